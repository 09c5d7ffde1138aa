/* mvt: x1 = x1 + A y_1 and x2 = x2 + A^T y_2. */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_mvt(int n, DATA_TYPE x1[N], DATA_TYPE x2[N], DATA_TYPE y_1[N],
                       DATA_TYPE y_2[N], DATA_TYPE A[N][N])
{
    int i, j;

#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x1[i] = x1[i] + A[i][j] * y_1[j];
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x2[i] = x2[i] + A[j][i] * y_2[j];
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);
    DATA_TYPE *x1 = bench_alloc(N, sizeof *x1);
    DATA_TYPE *x2 = bench_alloc(N, sizeof *x2);
    DATA_TYPE *y_1 = bench_alloc(N, sizeof *y_1);
    DATA_TYPE *y_2 = bench_alloc(N, sizeof *y_2);

    bench_fill_data(A, N * N, 1, -1.0, 1.0);
    bench_fill_data(x1, N, 2, 0.0, 1.0);
    bench_fill_data(x2, N, 3, 0.0, 1.0);
    bench_fill_data(y_1, N, 4, 0.0, 1.0);
    bench_fill_data(y_2, N, 5, 0.0, 1.0);

    bench_start();
    kernel_mvt(N, x1, x2, y_1, y_2, A);
    bench_stop();

    bench_dump_data("x1", x1, 1, N);
    bench_dump_data("x2", x2, 1, N);
    bench_free(A);
    bench_free(x1);
    bench_free(x2);
    bench_free(y_1);
    bench_free(y_2);
    return 0;
}
