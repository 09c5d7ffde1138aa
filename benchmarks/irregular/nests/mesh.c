/*
 * A step of diffusion on an unstructured mesh, edge by edge: what flows along an edge is gathered from its two nodes and
 * scattered to them, and then the nodes are updated.
 *
 *   flow = w[e] (u[head[e]] - u[tail[e]]),   net[tail[e]] += flow,   net[head[e]] -= flow
 *   rate = net / volume,   u_next = u + dt rate
 */
#include "harness.h"

#include <stdlib.h>

#define NODES SIZE(80, 500, 10000, 400000, 1000000)
#define FEWEST 3
#define MOST 10
#define REACH SIZE(10, 60, 400, 2000, 2000)

void mesh(int nodes, int edges, const int tail[edges], const int head[edges], const double w[edges],
          const double volume[nodes], const double u[nodes], double next[nodes], double dt)
{
    double *net = malloc(sizeof(double[nodes])), *rate = malloc(sizeof(double[nodes]));

#pragma polyc live-out(next)
#pragma scop
    for (int i = 0; i < nodes; i++)
        net[i] = 0.0;
    for (int e = 0; e < edges; e++) {
        double flow = w[e] * (u[head[e]] - u[tail[e]]);
        net[tail[e]] += flow;
        net[head[e]] -= flow;
    }
    for (int i = 0; i < nodes; i++)
        rate[i] = net[i] / volume[i];
    for (int i = 0; i < nodes; i++)
        next[i] = u[i] + dt * rate[i];
#pragma endscop
    free(net);
    free(rate);
}

#include "rows.h"

int main(void)
{
    int *index = bench_alloc(NODES + 1, sizeof(int));
    int edges = rows_index(index, NODES, FEWEST, MOST);
    int *head = bench_alloc((size_t)edges, sizeof(int)), *tail = bench_alloc((size_t)edges, sizeof(int));
    double *w = bench_alloc((size_t)edges, sizeof(double)), *volume = bench_alloc(NODES, sizeof(double));
    double *u = bench_alloc(NODES, sizeof(double)), *next = bench_alloc(NODES, sizeof(double));

    rows_columns(head, index, NODES, REACH);
    for (int i = 0; i < NODES; i++)
        for (int k = index[i]; k < index[i + 1]; k++)
            tail[k] = i;
    bench_fill_double(w, (size_t)edges, 1, 0.0, 1.0);
    bench_fill_double(volume, NODES, 2, 0.5, 1.5);
    bench_fill_double(u, NODES, 3, 0.0, 1.0);
    bench_start();
    mesh(NODES, edges, tail, head, w, volume, u, next, 0.01);
    bench_stop();
    bench_dump_double("next", next, 1, NODES);
    bench_free(next);
    bench_free(u);
    bench_free(volume);
    bench_free(w);
    bench_free(tail);
    bench_free(head);
    bench_free(index);
    return 0;
}
