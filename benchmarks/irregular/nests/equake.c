/*
 * A time step of a finite element method on an unstructured mesh, as in the simulation of an earthquake: three
 * components of a displacement u a node, a sparse stiffness matrix K of 3 x 3 blocks, lumped masses m, damping c and
 * forces f.
 *
 *   (m / dt^2 + c / (2 dt)) u_next = f - K u + 2 m / dt^2 u - (m / dt^2 - c / (2 dt)) u_before
 *   v = (u_next - u_before) / (2 dt)
 *
 * Seven nests, as programs have them: the sums are set to zero, a `while` over the blocks of each row adds up, the sums
 * are gathered, and affine nests update the mesh: scale, add, divide, velocities.
 */
#include "harness.h"

#include <stdlib.h>

#define NODES SIZE(60, 500, 10000, 100000, 400000)
#define FEWEST 6
#define MOST 20
#define REACH SIZE(10, 60, 400, 2000, 4000)

void equake(int n, const int index[n + 1], const int *col, const double (*K)[3][3], double m[n][3], double c[n][3],
            double f[n][3], double u[n][3], double before[n][3], double dt, double next[n][3], double v[n][3])
{
    double (*sum)[3] = malloc(sizeof(double[n][3]));

#pragma polyc live-out(next, v)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            sum[i][d] = 0.0;
    for (int i = 0; i < n; i++) {
        int k = index[i];
        while (k < index[i + 1]) {
            for (int d = 0; d < 3; d++)
                sum[i][d] += K[k][d][0] * u[col[k]][0] + K[k][d][1] * u[col[k]][1] + K[k][d][2] * u[col[k]][2];
            k++;
        }
    }
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            next[i][d] = sum[i][d];
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            next[i][d] *= -dt * dt;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            next[i][d] += 2.0 * m[i][d] * u[i][d] - (m[i][d] - 0.5 * dt * c[i][d]) * before[i][d] + dt * dt * f[i][d];
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            next[i][d] = next[i][d] / (m[i][d] + 0.5 * dt * c[i][d]);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            v[i][d] = (next[i][d] - before[i][d]) / (2.0 * dt);
#pragma endscop
    free(sum);
}

#include "rows.h"

int main(void)
{
    const size_t values = (size_t)3 * NODES;
    int *index = bench_alloc(NODES + 1, sizeof(int));
    int blocks = rows_index(index, NODES, FEWEST, MOST);
    int *col = bench_alloc((size_t)blocks, sizeof(int));
    double *K = bench_alloc((size_t)9 * blocks, sizeof(double));
    double *given[5], *next = bench_alloc(values, sizeof(double)), *v = bench_alloc(values, sizeof(double));

    rows_columns(col, index, NODES, REACH);
    bench_fill_double(K, (size_t)9 * blocks, 1, -1.0, 1.0);
    for (unsigned k = 0; k < 5; k++) {
        given[k] = bench_alloc(values, sizeof(double));
        bench_fill_double(given[k], values, 2 + k, 0.5, 1.5);
    }
    bench_start();
    equake(NODES, index, col, (void *)K, (void *)given[0], (void *)given[1], (void *)given[2], (void *)given[3],
           (void *)given[4], 0.01, (void *)next, (void *)v);
    bench_stop();
    bench_dump_double("next", next, NODES, 3);
    bench_dump_double("v", v, NODES, 3);
    for (int k = 0; k < 5; k++)
        bench_free(given[k]);
    bench_free(next);
    bench_free(v);
    bench_free(K);
    bench_free(col);
    bench_free(index);
    return 0;
}
