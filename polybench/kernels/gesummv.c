/* gesummv: y = alpha A x + beta B x; tmp is left holding A x. */
#include "harness.h"

#define N SIZE(30, 90, 250, 1300, 2800)

static void kernel_gesummv(int n, double alpha, double beta, double A[n][n],
                           double B[n][n], double tmp[n], double x[n], double y[n])
{
    int i, j;

#pragma scop
    for (i = 0; i < n; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (j = 0; j < n; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
#pragma endscop
}

int main(void)
{
    double (*A)[N] = bench_alloc(N, sizeof *A);
    double (*B)[N] = bench_alloc(N, sizeof *B);
    double *tmp = bench_alloc(N, sizeof *tmp);
    double *x = bench_alloc(N, sizeof *x);
    double *y = bench_alloc(N, sizeof *y);

    bench_fill_double(A, N * N, 1, -1.0, 1.0);
    bench_fill_double(B, N * N, 2, -1.0, 1.0);
    bench_fill_double(x, N, 3, 0.0, 1.0);

    bench_start();
    kernel_gesummv(N, 1.3, 0.7, A, B, tmp, x, y);
    bench_stop();

    bench_dump_double("tmp", tmp, 1, N);
    bench_dump_double("y", y, 1, N);
    bench_free(A);
    bench_free(B);
    bench_free(tmp);
    bench_free(x);
    bench_free(y);
    return 0;
}
