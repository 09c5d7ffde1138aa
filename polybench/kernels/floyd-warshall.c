/* floyd-warshall: shortest distances between all nodes of a graph, in integers. */
#include "harness.h"

#define N SIZE(60, 180, 500, 2800, 5600)

static void kernel_floyd_warshall(int n, int path[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j]
                                 ? path[i][j]
                                 : path[i][k] + path[k][j];
#pragma endscop
}

int main(void)
{
    int (*path)[N] = bench_alloc(N, sizeof *path);

    /* about one pair in six has an edge; 100000 stands for none */
    bench_fill_int(path, N * N, 1, 1, 600);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (i == j)
                path[i][j] = 0;
            else if (path[i][j] > 100)
                path[i][j] = 100000;

    bench_start();
    kernel_floyd_warshall(N, path);
    bench_stop();

    bench_dump_int("path", path, N, N);
    bench_free(path);
    return 0;
}
