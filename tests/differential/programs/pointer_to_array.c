/* Pointers to arrays, restrict, const, and a flat pointer beside them. */
#include "driver.h"
#define M 50

static void stencil(int n, const double (*restrict in)[M], double (*restrict out)[M], double *restrict flat)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < M; j++)
            out[i][j] = in[i][j] - in[i][j - 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < M - 1; j++)
            flat[i] += out[i][j + 1] * j;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 100) {
        double *in = new_double(n * M), *out = new_double(n * M), *flat = new_double(n);
        stencil(n, (void *)in, (void *)out, flat);
        dump_double("out", out, n * M);
        dump_double("flat", flat, n);
        free(in), free(out), free(flat);
    }
    return 0;
}
