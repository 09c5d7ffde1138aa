/*
 * symm: C = alpha A B + beta C for a symmetric A, of which only the lower
 * triangle is stored (and read).
 */
#include "harness.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[m][n],
                        DATA_TYPE A[m][m], DATA_TYPE B[m][n])
{
    DATA_TYPE temp2;

#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            temp2 = 0;
            for (int k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp2 += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*C)[N] = bench_alloc(M, sizeof *C);
    DATA_TYPE (*A)[M] = bench_alloc(M, sizeof *A);
    DATA_TYPE (*B)[N] = bench_alloc(M, sizeof *B);

    bench_fill_data(C, M * N, 1, -1.0, 1.0);
    bench_fill_data(A, M * M, 2, 0.0, 1.0);
    bench_fill_data(B, M * N, 3, -1.0, 1.0);
    for (int i = 0; i < M; i++)
        for (int j = i + 1; j < M; j++)
            A[i][j] = -999.0;

    bench_start();
    kernel_symm(M, N, 1.3, 0.7, C, A, B);
    bench_stop();

    bench_dump_data("C", C, M, N);
    bench_free(C);
    bench_free(A);
    bench_free(B);
    return 0;
}
