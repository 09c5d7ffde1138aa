/*
 * ludcmp: solves A x = b: A = L U in place with a scalar accumulator, then
 * L y = b forwards and U x = y backwards.
 */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_ludcmp(int n, double A[n][n], double b[n], double x[n], double y[n])
{
    int i, j, k;
    double w;

#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            w = A[i][j];
            for (k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (j = i; j < n; j++) {
            w = A[i][j];
            for (k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }

    for (i = 0; i < n; i++) {
        w = b[i];
        for (j = 0; j < i; j++)
            w -= A[i][j] * y[j];
        y[i] = w;
    }

    for (i = n - 1; i >= 0; i--) {
        w = y[i];
        for (j = i + 1; j < n; j++)
            w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
#pragma endscop
}

int main(void)
{
    double (*A)[N] = bench_alloc(N, sizeof *A);
    double *b = bench_alloc(N, sizeof *b);
    double *x = bench_alloc(N, sizeof *x);
    double *y = bench_alloc(N, sizeof *y);

    bench_fill_double(A, N * N, 1, -1.0, 1.0);
    bench_fill_double(b, N, 2, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        A[i][i] += N + 1;

    bench_start();
    kernel_ludcmp(N, A, b, x, y);
    bench_stop();

    bench_dump_double("A", A, N, N);
    bench_dump_double("x", x, 1, N);
    bench_dump_double("y", y, 1, N);
    bench_free(A);
    bench_free(b);
    bench_free(x);
    bench_free(y);
    return 0;
}
