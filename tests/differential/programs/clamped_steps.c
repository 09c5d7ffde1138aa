/* Steps over time with borders that a clamp holds, in two dimensions: rows get a loop of their own for what no clamp
   holds, inside of tiles over time as well. */
#include "driver.h"

static void diffuse(float *restrict u, float *restrict un, int nx, int ny, int steps)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                int xm = x > 0 ? x - 1 : 0, xp = x < nx - 1 ? x + 1 : nx - 1;
                int ym = y > 0 ? y - 1 : 0, yp = y < ny - 1 ? y + 1 : ny - 1;
                un[y * nx + x] = 0.25f * (u[y * nx + xm] + u[y * nx + xp] + u[ym * nx + x] + u[yp * nx + x]);
            }
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++)
                u[y * nx + x] = un[y * nx + x];
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 20, 67) {
        int h = n + n / 3;
        float *u = new_float(n * h), *un = new_float(n * h);
        diffuse(u, un, n, h, n % 12 + 1);
        dump_float("u", u, n * h);
        free(u), free(un);
    }
    return 0;
}
