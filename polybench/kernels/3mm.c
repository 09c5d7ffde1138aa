/* 3mm: G = (A B) (C D), by way of E = A B and F = C D. */
#include "harness.h"

#define NI SIZE(16, 40, 180, 800, 1600)
#define NJ SIZE(18, 50, 190, 900, 1800)
#define NK SIZE(20, 60, 200, 1000, 2000)
#define NL SIZE(22, 70, 210, 1100, 2200)
#define NM SIZE(24, 80, 220, 1200, 2400)

static void kernel_3mm(int ni, int nj, int nk, int nl, int nm,
                       DATA_TYPE E[NI][NJ], DATA_TYPE A[NI][NK], DATA_TYPE B[NK][NJ],
                       DATA_TYPE F[NJ][NL], DATA_TYPE C[NJ][NM], DATA_TYPE D[NM][NL],
                       DATA_TYPE G[NI][NL])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++) {
            E[i][j] = 0.0;
            for (k = 0; k < nk; ++k)
                E[i][j] += A[i][k] * B[k][j];
        }

    for (i = 0; i < nj; i++)
        for (j = 0; j < nl; j++) {
            F[i][j] = 0.0;
            for (k = 0; k < nm; ++k)
                F[i][j] += C[i][k] * D[k][j];
        }

    for (i = 0; i < ni; i++)
        for (j = 0; j < nl; j++) {
            G[i][j] = 0.0;
            for (k = 0; k < nj; ++k)
                G[i][j] += E[i][k] * F[k][j];
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[NK] = bench_alloc(NI, sizeof *A);
    DATA_TYPE (*B)[NJ] = bench_alloc(NK, sizeof *B);
    DATA_TYPE (*C)[NM] = bench_alloc(NJ, sizeof *C);
    DATA_TYPE (*D)[NL] = bench_alloc(NM, sizeof *D);
    DATA_TYPE (*E)[NJ] = bench_alloc(NI, sizeof *E);
    DATA_TYPE (*F)[NL] = bench_alloc(NJ, sizeof *F);
    DATA_TYPE (*G)[NL] = bench_alloc(NI, sizeof *G);

    bench_fill_data(A, NI * NK, 1, 0.0, 1.0);
    bench_fill_data(B, NK * NJ, 2, 0.0, 1.0);
    bench_fill_data(C, NJ * NM, 3, 0.0, 1.0);
    bench_fill_data(D, NM * NL, 4, -1.0, 1.0);

    bench_start();
    kernel_3mm(NI, NJ, NK, NL, NM, E, A, B, F, C, D, G);
    bench_stop();

    bench_dump_data("E", E, NI, NJ);
    bench_dump_data("F", F, NJ, NL);
    bench_dump_data("G", G, NI, NL);
    bench_free(A);
    bench_free(B);
    bench_free(C);
    bench_free(D);
    bench_free(E);
    bench_free(F);
    bench_free(G);
    return 0;
}
