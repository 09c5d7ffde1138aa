/* heat-3d: an explicit heat-equation stencil of seven points in a cube. */
#include "harness.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(10, 20, 40, 120, 200)

static void kernel_heat_3d(int tsteps, int n, DATA_TYPE A[n][n][n], DATA_TYPE B[n][n][n])
{
#pragma scop
    for (int t = 1; t <= tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    B[i][j][k] =
                        REAL(0.125) * (A[i + 1][j][k] - REAL(2.0) * A[i][j][k] + A[i - 1][j][k])
                        + REAL(0.125) * (A[i][j + 1][k] - REAL(2.0) * A[i][j][k] + A[i][j - 1][k])
                        + REAL(0.125) * (A[i][j][k + 1] - REAL(2.0) * A[i][j][k] + A[i][j][k - 1])
                        + A[i][j][k];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    A[i][j][k] =
                        REAL(0.125) * (B[i + 1][j][k] - REAL(2.0) * B[i][j][k] + B[i - 1][j][k])
                        + REAL(0.125) * (B[i][j + 1][k] - REAL(2.0) * B[i][j][k] + B[i][j - 1][k])
                        + REAL(0.125) * (B[i][j][k + 1] - REAL(2.0) * B[i][j][k] + B[i][j][k - 1])
                        + B[i][j][k];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N][N] = bench_alloc(N, sizeof *A);
    DATA_TYPE (*B)[N][N] = bench_alloc(N, sizeof *B);

    /* the same seed: the fixed border has to be the same in both */
    bench_fill_data(A, N * N * N, 1, 0.0, 10.0);
    bench_fill_data(B, N * N * N, 1, 0.0, 10.0);

    bench_start();
    kernel_heat_3d(TSTEPS, N, A, B);
    bench_stop();

    bench_dump_data("A", A, N * N, N);
    bench_dump_data("B", B, N * N, N);
    bench_free(A);
    bench_free(B);
    return 0;
}
