/*
 * adi: the heat equation on the unit square by alternating directions.  Half
 * of a time step is implicit along one axis, half along the other; either
 * way a tridiagonal system a row, solved by elimination (p, q) and back
 * substitution.  The border is held at one.
 */
#include "harness.h"

#define TSTEPS SIZE(20, 40, 100, 500, 1000)
#define N SIZE(20, 60, 200, 1000, 2000)

static void kernel_adi(int tsteps, int n, double u[n][n], double v[n][n],
                       double p[n][n], double q[n][n])
{
    int t, i, j;
    double dx, dy, dt;
    double mul1, mul2;
    double a, b, c, d, e, f;

#pragma scop
    dx = 1.0 / (double)n;
    dy = 1.0 / (double)n;
    dt = 1.0 / (double)tsteps;
    mul1 = 2.0 * dt / (dx * dx);
    mul2 = 1.0 * dt / (dy * dy);

    a = -mul1 / 2.0;
    b = 1.0 + mul1;
    c = a;
    d = -mul2 / 2.0;
    e = 1.0 + mul2;
    f = d;

    for (t = 1; t <= tsteps; t++) {
        /* u -> v, implicit down the columns */
        for (i = 1; i < n - 1; i++) {
            v[0][i] = 1.0;
            p[i][0] = 0.0;
            q[i][0] = v[0][i];
            for (j = 1; j < n - 1; j++) {
                p[i][j] = -c / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i]
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
                q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j]
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
    double (*u)[N] = bench_alloc(N, sizeof *u);
    double (*v)[N] = bench_alloc(N, sizeof *v);
    double (*p)[N] = bench_alloc(N, sizeof *p);
    double (*q)[N] = bench_alloc(N, sizeof *q);

    bench_fill_double(u, N * N, 1, 0.0, 2.0);

    bench_start();
    kernel_adi(TSTEPS, N, u, v, p, q);
    bench_stop();

    bench_dump_double("u", u, N, N);
    bench_dump_double("v", v, N, N);
    bench_dump_double("p", p, N, N);
    bench_dump_double("q", q, N, N);
    bench_free(u);
    bench_free(v);
    bench_free(p);
    bench_free(q);
    return 0;
}
