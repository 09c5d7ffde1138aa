/*
 * Relaxation of a field on a 3-D grid with a 27-point operator: one weight each for the cell, its faces, its edges and
 * its corners, from a struct that describes the grid. The residual is stored, then added.
 */
#include "clock.h"

#ifdef SMALL
#define EXTENT 12
#define SWEEPS 2
#else
#define EXTENT 120
#define SWEEPS 6
#endif

struct grid {
    int nx, ny, nz;
    double centre, face, edge, corner, relax;
};

#define AT(a, z, y, x) a[((z) * g->ny + (y)) * g->nx + (x)]

static void relax(const struct grid *g, int sweeps, const double *f, double *u, double *r)
{
#pragma scop
    for (int s = 0; s < sweeps; s++) {
        for (int z = 1; z < g->nz - 1; z++)
            for (int y = 1; y < g->ny - 1; y++)
                for (int x = 1; x < g->nx - 1; x++) {
                    double faces = AT(u, z - 1, y, x) + AT(u, z + 1, y, x) + AT(u, z, y - 1, x) + AT(u, z, y + 1, x)
                                   + AT(u, z, y, x - 1) + AT(u, z, y, x + 1);
                    double edges = AT(u, z - 1, y - 1, x) + AT(u, z - 1, y + 1, x) + AT(u, z + 1, y - 1, x)
                                   + AT(u, z + 1, y + 1, x) + AT(u, z - 1, y, x - 1) + AT(u, z - 1, y, x + 1)
                                   + AT(u, z + 1, y, x - 1) + AT(u, z + 1, y, x + 1) + AT(u, z, y - 1, x - 1)
                                   + AT(u, z, y - 1, x + 1) + AT(u, z, y + 1, x - 1) + AT(u, z, y + 1, x + 1);
                    double corners = AT(u, z - 1, y - 1, x - 1) + AT(u, z - 1, y - 1, x + 1)
                                     + AT(u, z - 1, y + 1, x - 1) + AT(u, z - 1, y + 1, x + 1)
                                     + AT(u, z + 1, y - 1, x - 1) + AT(u, z + 1, y - 1, x + 1)
                                     + AT(u, z + 1, y + 1, x - 1) + AT(u, z + 1, y + 1, x + 1);

                    AT(r, z, y, x) = AT(f, z, y, x) - g->centre * AT(u, z, y, x) - g->face * faces - g->edge * edges
                                     - g->corner * corners;
                }
        for (int z = 1; z < g->nz - 1; z++)
            for (int y = 1; y < g->ny - 1; y++)
                for (int x = 1; x < g->nx - 1; x++)
                    AT(u, z, y, x) += g->relax * AT(r, z, y, x);
    }
#pragma endscop
}

int main(void)
{
    struct grid g = {EXTENT, EXTENT, EXTENT, 128.0 / 30, -14.0 / 30, -3.0 / 30, -1.0 / 30, 0.15};
    size_t cells = (size_t)g.nx * g.ny * g.nz;
    double *f = memory(cells, sizeof *f), *u = memory(cells, sizeof *u), *r = memory(cells, sizeof *r), sum = 0.0;

    for (size_t i = 0; i < cells; i++) {
        f[i] = noise() - 0.5;
        u[i] = 0.0;
        r[i] = 0.0;
    }
    clock_start();
    relax(&g, SWEEPS, f, u, r);
    clock_stop();
    for (size_t i = 0; i < cells; i++)
        sum += u[i] * (double)(i % 11) + r[i];
    printf("%.17g\n", sum);
    free(r);
    free(u);
    free(f);
    return 0;
}
