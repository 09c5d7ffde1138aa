/*
 * Upwind advection on a grid, twice in a step: with the wind, and with velocities that undo some of its diffusion.
 */
#include "clock.h"
#include <math.h>

#ifdef SMALL
#define NX 40
#define NY 37
#define STEPS 2
#else
#define NX 700
#define NY 640
#define STEPS 10
#endif
#define AT(i, j) ((i) * ny + (j))
#define FLUX(left, right, wind) (fmax(wind, 0.0) * (left) + fmin(wind, 0.0) * (right))

static void advect(int nx, int ny, double *psi, double *half, const double *u, const double *v, double *ut, double *vt)
{
#pragma scop
    for (int i = 1; i < nx - 1; i++)
        for (int j = 1; j < ny - 1; j++)
            half[AT(i, j)] = psi[AT(i, j)]
                - FLUX(psi[AT(i, j)], psi[AT(i + 1, j)], u[AT(i + 1, j)])
                + FLUX(psi[AT(i - 1, j)], psi[AT(i, j)], u[AT(i, j)])
                - FLUX(psi[AT(i, j)], psi[AT(i, j + 1)], v[AT(i, j + 1)])
                + FLUX(psi[AT(i, j - 1)], psi[AT(i, j)], v[AT(i, j)]);
    for (int i = 2; i < nx - 1; i++)
        for (int j = 2; j < ny - 1; j++) {
            double a = (half[AT(i, j)] - half[AT(i - 1, j)]) / (half[AT(i, j)] + half[AT(i - 1, j)] + 1e-15);
            double b = (half[AT(i, j)] - half[AT(i, j - 1)]) / (half[AT(i, j)] + half[AT(i, j - 1)] + 1e-15);

            ut[AT(i, j)] = (fabs(u[AT(i, j)]) - u[AT(i, j)] * u[AT(i, j)]) * a;
            vt[AT(i, j)] = (fabs(v[AT(i, j)]) - v[AT(i, j)] * v[AT(i, j)]) * b;
        }
    for (int i = 2; i < nx - 2; i++)
        for (int j = 2; j < ny - 2; j++)
            psi[AT(i, j)] = half[AT(i, j)]
                - FLUX(half[AT(i, j)], half[AT(i + 1, j)], ut[AT(i + 1, j)])
                + FLUX(half[AT(i - 1, j)], half[AT(i, j)], ut[AT(i, j)])
                - FLUX(half[AT(i, j)], half[AT(i, j + 1)], vt[AT(i, j + 1)])
                + FLUX(half[AT(i, j - 1)], half[AT(i, j)], vt[AT(i, j)]);
#pragma endscop
}

int main(void)
{
    double *grid[6], sum = 0;

    for (int k = 0; k < 6; k++)
        grid[k] = memset(memory((size_t)NX * NY, sizeof(double)), 0, (size_t)NX * NY * sizeof(double));
    for (int k = 0; k < NX * NY; k++) {
        grid[0][k] = 1 + noise();
        grid[2][k] = 0.4 * noise() - 0.2;
        grid[3][k] = 0.4 * noise() - 0.2;
    }
    clock_start();
    for (int t = 0; t < STEPS; t++)
        advect(NX, NY, grid[0], grid[1], grid[2], grid[3], grid[4], grid[5]);
    clock_stop();
    for (int k = 0; k < NX * NY; k++)
        sum += grid[0][k] * (1 + k % 7);
    printf("%.17g\n", sum);
    for (int k = 0; k < 6; k++)
        free(grid[k]);
    return 0;
}
