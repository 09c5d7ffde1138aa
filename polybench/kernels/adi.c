/*
 * adi: the heat equation on the unit square by alternating directions.  Half
 * of a time step is implicit along one axis, half along the other; either
 * way a tridiagonal system a row, solved by elimination (p, q) and back
 * substitution.  The border is held at one.
 */
#include "harness.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(20, 60, 200, 1000, 2000)

static void kernel_adi(int tsteps, int n, DATA_TYPE u[n][n], DATA_TYPE v[n][n],
                       DATA_TYPE p[n][n], DATA_TYPE q[n][n])
{
    int t, i, j;
    DATA_TYPE dx, dy, dt;
    DATA_TYPE mul1, mul2;
    DATA_TYPE a, b, c, d, e, f;

#pragma scop
    dx = REAL(1.0) / (DATA_TYPE)n;
    dy = REAL(1.0) / (DATA_TYPE)n;
    dt = REAL(1.0) / (DATA_TYPE)tsteps;
    mul1 = REAL(2.0) * dt / (dx * dx);
    mul2 = REAL(1.0) * dt / (dy * dy);

    a = -mul1 / REAL(2.0);
    b = REAL(1.0) + mul1;
    c = a;
    d = -mul2 / REAL(2.0);
    e = REAL(1.0) + mul2;
    f = d;

    for (t = 1; t <= tsteps; t++) {
        /* u -> v, implicit down the columns */
        for (i = 1; i < n - 1; i++) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            for (j = 1; j < n - 1; j++) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (REAL(1.0) + REAL(2.0) * d) * u[j][i]
                           - f * u[j][i + 1] - a * q[i][j - 1])
                          / (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1.0;
            for (j = n - 2; j >= 1; j--)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        /* v -> u, implicit along the rows */
        for (i = 1; i < n - 1; i++) {
            u[i][0] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = u[i][0];
            for (j = 1; j < n - 1; j++) {
                p[i][j] = -f / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (REAL(1.0) + REAL(2.0) * a) * v[i][j]
                           - c * v[i + 1][j] - d * q[i][j - 1])
                          / (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1.0;
            for (j = n - 2; j >= 1; j--)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*u)[N] = bench_alloc(N, sizeof *u);
    DATA_TYPE (*v)[N] = bench_alloc(N, sizeof *v);
    DATA_TYPE (*p)[N] = bench_alloc(N, sizeof *p);
    DATA_TYPE (*q)[N] = bench_alloc(N, sizeof *q);

    bench_fill_data(u, N * N, 1, 0.0, 2.0);

    bench_start();
    kernel_adi(TSTEPS, N, u, v, p, q);
    bench_stop();

    bench_dump_data("u", u, N, N);
    bench_dump_data("v", v, N, N);
    bench_dump_data("p", p, N, N);
    bench_dump_data("q", q, N, N);
    bench_free(u);
    bench_free(v);
    bench_free(p);
    bench_free(q);
    return 0;
}
