/* syrk: C = alpha A A^T + beta C, the lower triangle only. */
#include "harness.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void kernel_syrk(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE C[n][n],
                        DATA_TYPE A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * A[j][k];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*C)[N] = bench_alloc(N, sizeof *C);
    DATA_TYPE (*A)[M] = bench_alloc(N, sizeof *A);

    bench_fill_data(C, N * N, 1, -1.0, 1.0);
    bench_fill_data(A, N * M, 2, 0.0, 1.0);

    bench_start();
    kernel_syrk(N, M, 1.3, 0.7, C, A);
    bench_stop();

    bench_dump_data("C", C, N, N);
    bench_free(C);
    bench_free(A);
    return 0;
}
