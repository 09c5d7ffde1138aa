/* trmm: B = alpha A^T B in place, A unit lower triangular (only the part below
 * the diagonal is read). */
#include "harness.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void kernel_trmm(int m, int n, DATA_TYPE alpha, DATA_TYPE A[m][m], DATA_TYPE B[m][n])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            for (k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[M] = bench_alloc(M, sizeof *A);
    DATA_TYPE (*B)[N] = bench_alloc(M, sizeof *B);

    bench_fill_data(A, M * M, 1, -1.0, 1.0);
    bench_fill_data(B, M * N, 2, 0.0, 1.0);

    bench_start();
    kernel_trmm(M, N, 1.3, A, B);
    bench_stop();

    bench_dump_data("B", B, M, N);
    bench_free(A);
    bench_free(B);
    return 0;
}
