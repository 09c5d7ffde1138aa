/* seidel-2d: a nine-point average in place. */
#include "harness.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_seidel_2d(int tsteps, int n, DATA_TYPE A[n][n])
{
    int t, i, j;

#pragma scop
    for (t = 0; t <= tsteps - 1; t++)
        for (i = 1; i <= n - 2; i++)
            for (j = 1; j <= n - 2; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1]
                           + A[i][j - 1] + A[i][j] + A[i][j + 1]
                           + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1])
                          / REAL(9.0);
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);

    bench_fill_data(A, N * N, 1, 0.0, 10.0);

    bench_start();
    kernel_seidel_2d(TSTEPS, N, A);
    bench_stop();

    bench_dump_data("A", A, N, N);
    bench_free(A);
    return 0;
}
