/* syr2k: C = alpha A B^T + alpha B A^T + beta C, the lower triangle only. */
#include "harness.h"

#define M SIZE(20, 60, 200, 1000, 2000)
#define N SIZE(30, 80, 240, 1200, 2600)

static void kernel_syr2k(int n, int m, DATA_TYPE alpha, DATA_TYPE beta,
                         DATA_TYPE C[N][N], DATA_TYPE A[N][M], DATA_TYPE B[N][M])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < m; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*C)[N] = bench_alloc(N, sizeof *C);
    DATA_TYPE (*A)[M] = bench_alloc(N, sizeof *A);
    DATA_TYPE (*B)[M] = bench_alloc(N, sizeof *B);

    bench_fill_data(C, N * N, 1, -1.0, 1.0);
    bench_fill_data(A, N * M, 2, 0.0, 1.0);
    bench_fill_data(B, N * M, 3, 0.0, 1.0);

    bench_start();
    kernel_syr2k(N, M, 1.3, 0.7, C, A, B);
    bench_stop();

    bench_dump_data("C", C, N, N);
    bench_free(C);
    bench_free(A);
    bench_free(B);
    return 0;
}
