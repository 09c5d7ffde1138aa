/* atax: y = A^T (A x), with tmp = A x on the way. */
#include "harness.h"

#define M SIZE(38, 116, 390, 1900, 1800)
#define N SIZE(42, 124, 410, 2100, 2200)

static void kernel_atax(int m, int n, DATA_TYPE A[m][n], DATA_TYPE x[n], DATA_TYPE y[n],
                        DATA_TYPE tmp[m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = 0.0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0.0;
        for (int j = 0; j < n; j++)
            tmp[i] = tmp[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * tmp[i];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(M, sizeof *A);
    DATA_TYPE *x = bench_alloc(N, sizeof *x);
    DATA_TYPE *y = bench_alloc(N, sizeof *y);
    DATA_TYPE *tmp = bench_alloc(M, sizeof *tmp);

    bench_fill_data(A, M * N, 1, -1.0, 1.0);
    bench_fill_data(x, N, 2, 0.0, 1.0);

    bench_start();
    kernel_atax(M, N, A, x, y, tmp);
    bench_stop();

    bench_dump_data("y", y, 1, N);
    bench_dump_data("tmp", tmp, 1, M);
    bench_free(A);
    bench_free(x);
    bench_free(y);
    bench_free(tmp);
    return 0;
}
