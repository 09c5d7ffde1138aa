/*
 * ludcmp: solves A x = b: A = L U in place with a scalar accumulator, then
 * L y = b forwards and U x = y backwards.
 */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_ludcmp(int n, DATA_TYPE A[n][n], DATA_TYPE b[n], DATA_TYPE x[n], DATA_TYPE y[n])
{
    int i, j, k;
    DATA_TYPE w;

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
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);
    DATA_TYPE *b = bench_alloc(N, sizeof *b);
    DATA_TYPE *x = bench_alloc(N, sizeof *x);
    DATA_TYPE *y = bench_alloc(N, sizeof *y);

    bench_fill_data(A, N * N, 1, -1.0, 1.0);
    bench_fill_data(b, N, 2, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        A[i][i] += N + 1;

    bench_start();
    kernel_ludcmp(N, A, b, x, y);
    bench_stop();

    bench_dump_data("A", A, N, N);
    bench_dump_data("x", x, 1, N);
    bench_dump_data("y", y, 1, N);
    bench_free(A);
    bench_free(b);
    bench_free(x);
    bench_free(y);
    return 0;
}
