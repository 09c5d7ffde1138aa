/*
 * cholesky: A = L L^T for a symmetric positive definite A.  L replaces the
 * lower triangle; what is above the diagonal is neither read nor written.
 */
#include "harness.h"
#include <math.h>

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_cholesky(int n, DATA_TYPE A[n][n])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = SQRT(A[i][i]);
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);

    /* symmetric, and each diagonal entry outweighs the rest of its row */
    bench_fill_data(A, N * N, 1, -1.0, 1.0);
    for (int i = 0; i < N; i++) {
        A[i][i] += N + 1;
        for (int j = 0; j < i; j++)
            A[j][i] = A[i][j];
    }

    bench_start();
    kernel_cholesky(N, A);
    bench_stop();

    bench_dump_data("A", A, N, N);
    bench_free(A);
    return 0;
}
