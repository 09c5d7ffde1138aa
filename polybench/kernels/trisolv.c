/* trisolv: L x = b by forward substitution, L lower triangular. */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_trisolv(int n, DATA_TYPE L[N][N], DATA_TYPE x[N], DATA_TYPE b[N])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*L)[N] = bench_alloc(N, sizeof *L);
    DATA_TYPE *x = bench_alloc(N, sizeof *x);
    DATA_TYPE *b = bench_alloc(N, sizeof *b);

    bench_fill_data(L, N * N, 1, -1.0, 1.0);
    bench_fill_data(b, N, 2, -N, N);
    for (int i = 0; i < N; i++)
        L[i][i] += N + 1;

    bench_start();
    kernel_trisolv(N, L, x, b);
    bench_stop();

    bench_dump_data("x", x, 1, N);
    bench_free(L);
    bench_free(x);
    bench_free(b);
    return 0;
}
