/* gesummv: y = alpha A x + beta B x; tmp is left holding A x. */
#include "harness.h"

#define N SIZE(30, 90, 250, 1300, 2800)

static void kernel_gesummv(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[n][n],
                           DATA_TYPE B[n][n], DATA_TYPE tmp[n], DATA_TYPE x[n], DATA_TYPE y[n])
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
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);
    DATA_TYPE (*B)[N] = bench_alloc(N, sizeof *B);
    DATA_TYPE *tmp = bench_alloc(N, sizeof *tmp);
    DATA_TYPE *x = bench_alloc(N, sizeof *x);
    DATA_TYPE *y = bench_alloc(N, sizeof *y);

    bench_fill_data(A, N * N, 1, -1.0, 1.0);
    bench_fill_data(B, N * N, 2, -1.0, 1.0);
    bench_fill_data(x, N, 3, 0.0, 1.0);

    bench_start();
    kernel_gesummv(N, 1.3, 0.7, A, B, tmp, x, y);
    bench_stop();

    bench_dump_data("tmp", tmp, 1, N);
    bench_dump_data("y", y, 1, N);
    bench_free(A);
    bench_free(B);
    bench_free(tmp);
    bench_free(x);
    bench_free(y);
    return 0;
}
