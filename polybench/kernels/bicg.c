/* bicg: the two products of a BiCG step, s = A^T r and q = A p. */
#include "harness.h"

#define M SIZE(38, 116, 390, 1900, 1800)
#define N SIZE(42, 124, 410, 2100, 2200)

static void kernel_bicg(int m, int n, DATA_TYPE A[N][M], DATA_TYPE s[M],
                        DATA_TYPE q[N], DATA_TYPE p[M], DATA_TYPE r[N])
{
#pragma scop
    for (int i = 0; i < m; i++)
        s[i] = 0;
    for (int i = 0; i < n; i++) {
        q[i] = 0.0;
        for (int j = 0; j < m; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*A)[M] = bench_alloc(N, sizeof *A);
    DATA_TYPE *s = bench_alloc(M, sizeof *s);
    DATA_TYPE *q = bench_alloc(N, sizeof *q);
    DATA_TYPE *p = bench_alloc(M, sizeof *p);
    DATA_TYPE *r = bench_alloc(N, sizeof *r);

    bench_fill_data(A, N * M, 1, -1.0, 1.0);
    bench_fill_data(p, M, 2, 0.0, 1.0);
    bench_fill_data(r, N, 3, 0.0, 1.0);

    bench_start();
    kernel_bicg(M, N, A, s, q, p, r);
    bench_stop();

    bench_dump_data("s", s, 1, M);
    bench_dump_data("q", q, 1, N);
    bench_free(A);
    bench_free(s);
    bench_free(q);
    bench_free(p);
    bench_free(r);
    return 0;
}
