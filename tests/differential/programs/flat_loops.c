/* Loops over all elements at once beside loops over rows: as if they were written over rows, too. */
#include "driver.h"

static void jacobi(float *restrict u, float *restrict un, int nx, int ny, int iters)
{
#pragma scop
    for (int it = 0; it < iters; it++) {
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++)
                un[y * nx + x] = 0.25f * (u[y * nx + x - 1] + u[y * nx + x + 1] + u[(y - 1) * nx + x] + u[(y + 1) * nx + x]);
        for (int p = 0; p < nx * ny; p++)
            u[p] = un[p];
    }
#pragma endscop
}

static double filter(const double *restrict u, double *restrict v, size_t w, size_t h)
{
    double s = 0;
    const size_t size = w * h;
#pragma scop
    for (size_t y = 0; y < h; y++)
        for (size_t x = 1; x < w; x++)
            v[y * w + x] = u[y * w + x] - u[y * w + x - 1];
    for (size_t i = 0; i < size; i++)
        v[i] = v[i] * v[i] + (double)(i % 3);
    for (size_t i = 0; i < size; i++)
        s += v[i];
#pragma endscop
    return s;
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 5, 33, 70) {
        int h = n + n / 2;
        float *u = new_float(n * h), *un = new_float(n * h);
        jacobi(u, un, n, h, n % 7);
        dump_float("u", u, n * h);
        double *a = new_double(n * h), *b = new_double(n * h);
        printf("%.17g\n", filter(a, b, n, h));
        dump_double("b", b, n * h);
        free(u), free(un), free(a), free(b);
    }
    return 0;
}
