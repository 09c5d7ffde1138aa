/* jacobi-1d: a three-point average, to and fro between A and B. */
#include "harness.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(30, 120, 400, 2000, 4000)

static void kernel_jacobi_1d(int tsteps, int n, DATA_TYPE A[N], DATA_TYPE B[N])
{
    int t, i;

#pragma scop
    for (t = 0; t < tsteps; t++) {
        for (i = 1; i < n - 1; i++)
            B[i] = REAL(0.33333) * (A[i - 1] + A[i] + A[i + 1]);
        for (i = 1; i < n - 1; i++)
            A[i] = REAL(0.33333) * (B[i - 1] + B[i] + B[i + 1]);
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE *A = bench_alloc(N, sizeof *A);
    DATA_TYPE *B = bench_alloc(N, sizeof *B);

    bench_fill_data(A, N, 1, 0.0, 10.0);
    bench_fill_data(B, N, 1, 0.0, 10.0);

    bench_start();
    kernel_jacobi_1d(TSTEPS, N, A, B);
    bench_stop();

    bench_dump_data("A", A, 1, N);
    bench_dump_data("B", B, 1, N);
    bench_free(A);
    bench_free(B);
    return 0;
}
