/*
 * Equalisation of a picture's histogram: grey values as bytes, how often each occurs, the sums of these as a table, and
 * the picture through the table. A scatter of whole numbers between affine nests, and a gather after them.
 */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(40, 100, 500, 4096, 8192)
#define COLS SIZE(56, 100, 500, 4096, 8192)
#define LEVELS 256

void histogram(const float in[ROWS][COLS], float out[ROWS][COLS])
{
    unsigned char (*grey)[COLS] = malloc(sizeof(unsigned char[ROWS][COLS]));
    int count[LEVELS], below[LEVELS];
    float table[LEVELS];

#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            grey[y][x] = (unsigned char)(in[y][x] * in[y][x] * 255.0f + 0.5f);
    for (int k = 0; k < LEVELS; k++)
        count[k] = 0;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            count[grey[y][x]]++;
    below[0] = count[0];
    for (int k = 1; k < LEVELS; k++)
        below[k] = below[k - 1] + count[k];
    for (int k = 0; k < LEVELS; k++)
        table[k] = (float)below[k] / (float)(ROWS * COLS);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            out[y][x] = table[grey[y][x]];
#pragma endscop
    free(grey);
}

int main(void)
{
    float *in = bench_alloc((size_t)ROWS * COLS, sizeof(float)), *out = bench_alloc((size_t)ROWS * COLS, sizeof(float));

    bench_fill_float(in, (size_t)ROWS * COLS, 1, 0.0f, 1.0f);
    bench_start();
    histogram((void *)in, (void *)out);
    bench_stop();
    bench_dump_float("out", out, ROWS, COLS);
    bench_free(in);
    bench_free(out);
    return 0;
}
