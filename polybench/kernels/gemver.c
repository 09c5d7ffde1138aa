/*
 * gemver: A = A + u1 v1^T + u2 v2^T;  x = x + beta A^T y + z;
 *         w = w + alpha A x.
 */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_gemver(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE A[N][N],
                          DATA_TYPE u1[N], DATA_TYPE v1[N], DATA_TYPE u2[N],
                          DATA_TYPE v2[N], DATA_TYPE w[N], DATA_TYPE x[N],
                          DATA_TYPE y[N], DATA_TYPE z[N])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];

    for (int i = 0; i < n; i++)
        x[i] = x[i] + z[i];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[N] = bench_alloc(N, sizeof *A);
    DATA_TYPE *u1 = bench_alloc(N, sizeof *u1);
    DATA_TYPE *v1 = bench_alloc(N, sizeof *v1);
    DATA_TYPE *u2 = bench_alloc(N, sizeof *u2);
    DATA_TYPE *v2 = bench_alloc(N, sizeof *v2);
    DATA_TYPE *w = bench_alloc(N, sizeof *w);
    DATA_TYPE *x = bench_alloc(N, sizeof *x);
    DATA_TYPE *y = bench_alloc(N, sizeof *y);
    DATA_TYPE *z = bench_alloc(N, sizeof *z);

    bench_fill_data(A, N * N, 1, -1.0, 1.0);
    bench_fill_data(u1, N, 2, 0.0, 1.0);
    bench_fill_data(v1, N, 3, 0.0, 1.0);
    bench_fill_data(u2, N, 4, -1.0, 0.0);
    bench_fill_data(v2, N, 5, 0.0, 1.0);
    bench_fill_data(w, N, 6, 0.0, 1.0);
    bench_fill_data(x, N, 7, 0.0, 1.0);
    bench_fill_data(y, N, 8, 0.0, 1.0);
    bench_fill_data(z, N, 9, 0.0, 1.0);

    bench_start();
    kernel_gemver(N, 1.3, 0.7, A, u1, v1, u2, v2, w, x, y, z);
    bench_stop();

    bench_dump_data("A", A, N, N);
    bench_dump_data("x", x, 1, N);
    bench_dump_data("w", w, 1, N);
    bench_free(A);
    bench_free(u1);
    bench_free(v1);
    bench_free(u2);
    bench_free(v2);
    bench_free(w);
    bench_free(x);
    bench_free(y);
    bench_free(z);
    return 0;
}
