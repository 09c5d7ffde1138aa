/* doitgen: multiply the last dimension of A by C4, A[r][q][.] = A[r][q][.] C4. */
#include "harness.h"

#define NR SIZE(10, 25, 50, 150, 250)
#define NQ SIZE(8, 20, 40, 140, 220)
#define NP SIZE(12, 30, 60, 160, 270)

static void kernel_doitgen(int nr, int nq, int np, DATA_TYPE A[NR][NQ][NP],
                           DATA_TYPE C4[NP][NP], DATA_TYPE sum[NP])
{
#pragma scop
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                sum[p] = 0.0;
                for (int s = 0; s < np; s++)
                    sum[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = sum[p];
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[NQ][NP] = bench_alloc(NR, sizeof *A);
    DATA_TYPE (*C4)[NP] = bench_alloc(NP, sizeof *C4);
    DATA_TYPE *sum = bench_alloc(NP, sizeof *sum);

    bench_fill_data(A, NR * NQ * NP, 1, 0.0, 1.0);
    bench_fill_data(C4, NP * NP, 2, -1.0, 1.0);

    bench_start();
    kernel_doitgen(NR, NQ, NP, A, C4, sum);
    bench_stop();

    bench_dump_data("A", A, NR * NQ, NP);
    bench_dump_data("sum", sum, 1, NP);
    bench_free(A);
    bench_free(C4);
    bench_free(sum);
    return 0;
}
