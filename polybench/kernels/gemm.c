/* gemm: C = alpha A B + beta C, general matrices. */
#include "harness.h"

#define NI SIZE(20, 60, 200, 1000, 2000)
#define NJ SIZE(25, 70, 220, 1100, 2300)
#define NK SIZE(30, 80, 240, 1200, 2600)

static void kernel_gemm(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta,
                        DATA_TYPE C[ni][nj], DATA_TYPE A[ni][nk], DATA_TYPE B[nk][nj])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < ni; i++) {
        for (j = 0; j < nj; j++)
            C[i][j] *= beta;
        for (k = 0; k < nk; k++)
            for (j = 0; j < nj; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*C)[NJ] = bench_alloc(NI, sizeof *C);
    DATA_TYPE (*A)[NK] = bench_alloc(NI, sizeof *A);
    DATA_TYPE (*B)[NJ] = bench_alloc(NK, sizeof *B);

    bench_fill_data(C, NI * NJ, 1, -1.0, 1.0);
    bench_fill_data(A, NI * NK, 2, 0.0, 1.0);
    bench_fill_data(B, NK * NJ, 3, 0.0, 1.0);

    bench_start();
    kernel_gemm(NI, NJ, NK, 1.3, 0.7, C, A, B);
    bench_stop();

    bench_dump_data("C", C, NI, NJ);
    bench_free(C);
    bench_free(A);
    bench_free(B);
    return 0;
}
