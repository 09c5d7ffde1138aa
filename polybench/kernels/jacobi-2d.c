/* jacobi-2d: a five-point average, to and fro between A and B. */
#include "harness.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(30, 90, 250, 1300, 2800)

static void kernel_jacobi_2d(int tsteps, int n, DATA_TYPE A[n][n], DATA_TYPE B[n][n])
{
#pragma scop
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = REAL(0.2) * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = REAL(0.2) * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);
    DATA_TYPE (*B)[N] = bench_alloc(N, sizeof *B);

    bench_fill_data(A, N * N, 1, 0.0, 10.0);
    bench_fill_data(B, N * N, 1, 0.0, 10.0);

    bench_start();
    kernel_jacobi_2d(TSTEPS, N, A, B);
    bench_stop();

    bench_dump_data("A", A, N, N);
    bench_dump_data("B", B, N, N);
    bench_free(A);
    bench_free(B);
    return 0;
}
