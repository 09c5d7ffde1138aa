/*
 * fdtd-2d: a two-dimensional electromagnetic field in finite differences of
 * time and space, with a source fict[t] on one edge.
 */
#include "harness.h"

#define TMAX SIZE(20, 40, 100, 500, 1000)
#define NX SIZE(20, 60, 200, 1000, 2000)
#define NY SIZE(30, 80, 240, 1200, 2600)

static void kernel_fdtd_2d(int tmax, int nx, int ny, DATA_TYPE ex[NX][NY],
                           DATA_TYPE ey[NX][NY], DATA_TYPE hz[NX][NY],
                           DATA_TYPE fict[TMAX])
{
    int t, i, j;

#pragma scop
    for (t = 0; t < tmax; t++) {
        for (j = 0; j < ny; j++)
            ey[0][j] = fict[t];
        for (i = 1; i < nx; i++)
            for (j = 0; j < ny; j++)
                ey[i][j] = ey[i][j] - REAL(0.5) * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < nx; i++)
            for (j = 1; j < ny; j++)
                ex[i][j] = ex[i][j] - REAL(0.5) * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < nx - 1; i++)
            for (j = 0; j < ny - 1; j++)
                hz[i][j] = hz[i][j] - REAL(0.7) * (ex[i][j + 1] - ex[i][j]
                                             + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*ex)[NY] = bench_alloc(NX, sizeof *ex);
    DATA_TYPE (*ey)[NY] = bench_alloc(NX, sizeof *ey);
    DATA_TYPE (*hz)[NY] = bench_alloc(NX, sizeof *hz);
    DATA_TYPE *fict = bench_alloc(TMAX, sizeof *fict);

    bench_fill_data(ex, NX * NY, 1, 0.0, 1.0);
    bench_fill_data(ey, NX * NY, 2, 0.0, 1.0);
    bench_fill_data(hz, NX * NY, 3, 0.0, 1.0);
    bench_fill_data(fict, TMAX, 4, -1.0, 1.0);

    bench_start();
    kernel_fdtd_2d(TMAX, NX, NY, ex, ey, hz, fict);
    bench_stop();

    bench_dump_data("ex", ex, NX, NY);
    bench_dump_data("ey", ey, NX, NY);
    bench_dump_data("hz", hz, NX, NY);
    bench_free(ex);
    bench_free(ey);
    bench_free(hz);
    bench_free(fict);
    return 0;
}
