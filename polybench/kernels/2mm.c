/* 2mm: D = (alpha A B) C + beta D, by way of tmp = alpha A B. */
#include "harness.h"

#define NI SIZE(16, 40, 180, 800, 1600)
#define NJ SIZE(18, 50, 190, 900, 1800)
#define NK SIZE(22, 70, 210, 1100, 2200)
#define NL SIZE(24, 80, 220, 1200, 2400)

static void kernel_2mm(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta,
                       DATA_TYPE tmp[ni][nj], DATA_TYPE A[ni][nk], DATA_TYPE B[nk][nj],
                       DATA_TYPE C[nj][nl], DATA_TYPE D[ni][nl])
{
#pragma scop
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            tmp[i][j] = 0.0;
            for (int k = 0; k < nk; k++)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++) {
            D[i][j] *= beta;
            for (int k = 0; k < nj; k++)
                D[i][j] += tmp[i][k] * C[k][j];
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*tmp)[NJ] = bench_alloc(NI, sizeof *tmp);
    DATA_TYPE (*A)[NK] = bench_alloc(NI, sizeof *A);
    DATA_TYPE (*B)[NJ] = bench_alloc(NK, sizeof *B);
    DATA_TYPE (*C)[NL] = bench_alloc(NJ, sizeof *C);
    DATA_TYPE (*D)[NL] = bench_alloc(NI, sizeof *D);

    bench_fill_data(A, NI * NK, 1, 0.0, 1.0);
    bench_fill_data(B, NK * NJ, 2, 0.0, 1.0);
    bench_fill_data(C, NJ * NL, 3, -1.0, 1.0);
    bench_fill_data(D, NI * NL, 4, -1.0, 1.0);

    bench_start();
    kernel_2mm(NI, NJ, NK, NL, 1.3, 0.7, tmp, A, B, C, D);
    bench_stop();

    bench_dump_data("tmp", tmp, NI, NJ);
    bench_dump_data("D", D, NI, NL);
    bench_free(tmp);
    bench_free(A);
    bench_free(B);
    bench_free(C);
    bench_free(D);
    return 0;
}
