/*
 * lu: A = L U without pivoting, row by row.  U and the part of L below its
 * unit diagonal take the place of A.
 */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_lu(int n, DATA_TYPE A[N][N])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);

    /* diagonally dominant: no pivoting is called for */
    bench_fill_data(A, N * N, 1, -1.0, 1.0);
    for (int i = 0; i < N; i++)
        A[i][i] += N + 1;

    bench_start();
    kernel_lu(N, A);
    bench_stop();

    bench_dump_data("A", A, N, N);
    bench_free(A);
    return 0;
}
