/* 2mm: D = (alpha A B) C + beta D, by way of tmp = alpha A B. */
#include "harness.h"

#define NI SIZE(16, 40, 180, 800, 1600)
#define NJ SIZE(18, 50, 190, 900, 1800)
#define NK SIZE(22, 70, 210, 1100, 2200)
#define NL SIZE(24, 80, 220, 1200, 2400)

static void kernel_2mm(int ni, int nj, int nk, int nl, double alpha, double beta,
                       double tmp[ni][nj], double A[ni][nk], double B[nk][nj],
                       double C[nj][nl], double D[ni][nl])
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
    double (*tmp)[NJ] = bench_alloc(NI, sizeof *tmp);
    double (*A)[NK] = bench_alloc(NI, sizeof *A);
    double (*B)[NJ] = bench_alloc(NK, sizeof *B);
    double (*C)[NL] = bench_alloc(NJ, sizeof *C);
    double (*D)[NL] = bench_alloc(NI, sizeof *D);

    bench_fill_double(A, NI * NK, 1, 0.0, 1.0);
    bench_fill_double(B, NK * NJ, 2, 0.0, 1.0);
    bench_fill_double(C, NJ * NL, 3, -1.0, 1.0);
    bench_fill_double(D, NI * NL, 4, -1.0, 1.0);

    bench_start();
    kernel_2mm(NI, NJ, NK, NL, 1.3, 0.7, tmp, A, B, C, D);
    bench_stop();

    bench_dump_double("tmp", tmp, NI, NJ);
    bench_dump_double("D", D, NI, NL);
    bench_free(tmp);
    bench_free(A);
    bench_free(B);
    bench_free(C);
    bench_free(D);
    return 0;
}
