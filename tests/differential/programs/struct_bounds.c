/* Bounds from a struct behind a pointer, arrays in it, and a size that is an expression. */
#include "driver.h"

struct image {
    int width, height;
    float *pixels;
};

static void sum(const struct image *img, int rows, float out[rows][rows / 2 + 1], float *flat)
{
#pragma scop
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < rows / 2 + 1; x++)
            out[y][x] = (float)(y - x);
    for (int k = 0; k < img->width; k++)
        flat[k] = out[0][0] + (float)(img->height * k);
    for (int y = 1; y < rows; y++)
        for (int x = 0; x < rows / 2; x++)
            out[y][x] += out[y - 1][x + 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 33, 80) {
        struct image img = {n + 3, 7, 0};
        float *out = new_float(n * (n / 2 + 1)), *flat = new_float(n + 3);
        sum(&img, n, (void *)out, flat);
        dump_float("out", out, n * (n / 2 + 1));
        dump_float("flat", flat, n + 3);
        free(out), free(flat);
    }
    return 0;
}
