/*
 * gramschmidt: A = Q R by the modified Gram-Schmidt process; A is used up.
 *
 * The standard sizes have more columns (n) than rows (m), so the columns of
 * Q past the m-th are normalised rounding noise: reproducible, but any change
 * in the order of the arithmetic changes them altogether.
 */
#include "harness.h"
#include <math.h>

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void kernel_gramschmidt(int m, int n, DATA_TYPE A[M][N], DATA_TYPE R[N][N],
                               DATA_TYPE Q[M][N])
{
    int i, j, k;
    DATA_TYPE nrm;

#pragma scop
    for (k = 0; k < n; k++) {
        nrm = 0.0;
        for (i = 0; i < m; i++)
            nrm += A[i][k] * A[i][k];
        R[k][k] = SQRT(nrm);
        for (i = 0; i < m; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (i = 0; i < m; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (i = 0; i < m; i++)
                A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(M, sizeof *A);
    DATA_TYPE (*R)[N] = bench_alloc(N, sizeof *R);
    DATA_TYPE (*Q)[N] = bench_alloc(M, sizeof *Q);

    /* the kernel leaves the part of R below the diagonal as it finds it */
    bench_fill_data(A, M * N, 1, -1.0, 1.0);
    bench_fill_data(R, N * N, 2, 0.0, 0.0);

    bench_start();
    kernel_gramschmidt(M, N, A, R, Q);
    bench_stop();

    bench_dump_data("A", A, M, N);
    bench_dump_data("R", R, N, N);
    bench_dump_data("Q", Q, M, N);
    bench_free(A);
    bench_free(R);
    bench_free(Q);
    return 0;
}
