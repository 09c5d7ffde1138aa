/*
 * Multiscale interpolation: holes of an image are filled with what smaller versions of it have there.
 *
 *   level 0 = colours times alpha, and alpha
 *   level l = level l - 1 with (1, 2, 1) / 4 at every second place, along x, then along y
 *   filled l = level l + (1 - alpha) * filled l + 1, stretched linearly along x, then along y
 *   out = colours of filled 0 / its alpha
 *
 * Forty-nine stages on ten levels of four planes. At an edge, the last pixel stands for those behind it.
 */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(512, 512, 1024, 2560, 5120) /* multiples of 512 */
#define COLS SIZE(512, 512, 1024, 1536, 5120)
#define H(l) (ROWS >> (l))
#define W(l) (COLS >> (l))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* An image of the size of level i along y and of level j along x. */
#define IMAGE(name, i, j) float (*name)[H(i)][W(j)] = malloc(sizeof(float[4][H(i)][W(j)]))

/* The stages of a level: each is one nest. */
#define SHRINK_X(to, from, l)                                                                       \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < H(l); y++)                                                              \
            for (int x = 0; x < W(l + 1); x++)                                                      \
                to[c][y][x] = (from[c][y][MAX(2 * x - 1, 0)] + 2.0f * from[c][y][2 * x]             \
                               + from[c][y][2 * x + 1]) * 0.25f
#define SHRINK_Y(to, from, l)                                                                       \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < H(l + 1); y++)                                                          \
            for (int x = 0; x < W(l + 1); x++)                                                      \
                to[c][y][x] = (from[c][MAX(2 * y - 1, 0)][x] + 2.0f * from[c][2 * y][x]             \
                               + from[c][2 * y + 1][x]) * 0.25f
#define STRETCH_X(to, from, l)                                                                      \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < H(l + 1); y++)                                                          \
            for (int x = 0; x < W(l); x++)                                                          \
                to[c][y][x] = (from[c][y][x / 2] + from[c][y][MIN((x + 1) / 2, W(l + 1) - 1)]) * 0.5f
#define STRETCH_Y(to, from, l)                                                                      \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < H(l); y++)                                                              \
            for (int x = 0; x < W(l); x++)                                                          \
                to[c][y][x] = (from[c][y / 2][x] + from[c][MIN((y + 1) / 2, H(l + 1) - 1)][x]) * 0.5f
#define FILL(to, from, below, l)                                                                    \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < H(l); y++)                                                              \
            for (int x = 0; x < W(l); x++)                                                          \
                to[c][y][x] = from[c][y][x] + (1.0f - from[3][y][x]) * below[c][y][x]

void multiscale(const float in[4][ROWS][COLS], float out[3][ROWS][COLS])
{
    IMAGE(clean, 0, 0);
    IMAGE(d0, 0, 0);
    IMAGE(s0, 0, 1);
    IMAGE(d1, 1, 1);
    IMAGE(s1, 1, 2);
    IMAGE(d2, 2, 2);
    IMAGE(s2, 2, 3);
    IMAGE(d3, 3, 3);
    IMAGE(s3, 3, 4);
    IMAGE(d4, 4, 4);
    IMAGE(s4, 4, 5);
    IMAGE(d5, 5, 5);
    IMAGE(s5, 5, 6);
    IMAGE(d6, 6, 6);
    IMAGE(s6, 6, 7);
    IMAGE(d7, 7, 7);
    IMAGE(s7, 7, 8);
    IMAGE(d8, 8, 8);
    IMAGE(s8, 8, 9);
    IMAGE(d9, 9, 9);
    IMAGE(f9, 9, 9);
    IMAGE(t8, 9, 8);
    IMAGE(u8, 8, 8);
    IMAGE(f8, 8, 8);
    IMAGE(t7, 8, 7);
    IMAGE(u7, 7, 7);
    IMAGE(f7, 7, 7);
    IMAGE(t6, 7, 6);
    IMAGE(u6, 6, 6);
    IMAGE(f6, 6, 6);
    IMAGE(t5, 6, 5);
    IMAGE(u5, 5, 5);
    IMAGE(f5, 5, 5);
    IMAGE(t4, 5, 4);
    IMAGE(u4, 4, 4);
    IMAGE(f4, 4, 4);
    IMAGE(t3, 4, 3);
    IMAGE(u3, 3, 3);
    IMAGE(f3, 3, 3);
    IMAGE(t2, 3, 2);
    IMAGE(u2, 2, 2);
    IMAGE(f2, 2, 2);
    IMAGE(t1, 2, 1);
    IMAGE(u1, 1, 1);
    IMAGE(f1, 1, 1);
    IMAGE(t0, 1, 0);
    IMAGE(u0, 0, 0);
    IMAGE(f0, 0, 0);

#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                clean[c][y][x] = MIN(MAX(in[c][y][x], 0.0f), 1.0f);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++) {
            d0[0][y][x] = clean[0][y][x] * clean[3][y][x];
            d0[1][y][x] = clean[1][y][x] * clean[3][y][x];
            d0[2][y][x] = clean[2][y][x] * clean[3][y][x];
            d0[3][y][x] = clean[3][y][x];
        }
    SHRINK_X(s0, d0, 0);
    SHRINK_Y(d1, s0, 0);
    SHRINK_X(s1, d1, 1);
    SHRINK_Y(d2, s1, 1);
    SHRINK_X(s2, d2, 2);
    SHRINK_Y(d3, s2, 2);
    SHRINK_X(s3, d3, 3);
    SHRINK_Y(d4, s3, 3);
    SHRINK_X(s4, d4, 4);
    SHRINK_Y(d5, s4, 4);
    SHRINK_X(s5, d5, 5);
    SHRINK_Y(d6, s5, 5);
    SHRINK_X(s6, d6, 6);
    SHRINK_Y(d7, s6, 6);
    SHRINK_X(s7, d7, 7);
    SHRINK_Y(d8, s7, 7);
    SHRINK_X(s8, d8, 8);
    SHRINK_Y(d9, s8, 8);
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < H(9); y++)
            for (int x = 0; x < W(9); x++)
                f9[c][y][x] = d9[c][y][x];
    STRETCH_X(t8, f9, 8);
    STRETCH_Y(u8, t8, 8);
    FILL(f8, d8, u8, 8);
    STRETCH_X(t7, f8, 7);
    STRETCH_Y(u7, t7, 7);
    FILL(f7, d7, u7, 7);
    STRETCH_X(t6, f7, 6);
    STRETCH_Y(u6, t6, 6);
    FILL(f6, d6, u6, 6);
    STRETCH_X(t5, f6, 5);
    STRETCH_Y(u5, t5, 5);
    FILL(f5, d5, u5, 5);
    STRETCH_X(t4, f5, 4);
    STRETCH_Y(u4, t4, 4);
    FILL(f4, d4, u4, 4);
    STRETCH_X(t3, f4, 3);
    STRETCH_Y(u3, t3, 3);
    FILL(f3, d3, u3, 3);
    STRETCH_X(t2, f3, 2);
    STRETCH_Y(u2, t2, 2);
    FILL(f2, d2, u2, 2);
    STRETCH_X(t1, f2, 1);
    STRETCH_Y(u1, t1, 1);
    FILL(f1, d1, u1, 1);
    STRETCH_X(t0, f1, 0);
    STRETCH_Y(u0, t0, 0);
    FILL(f0, d0, u0, 0);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                out[c][y][x] = f0[c][y][x] / f0[3][y][x];
#pragma endscop
    void *all[] = {clean, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9,
                   s0, s1, s2, s3, s4, s5, s6, s7, s8,
                   t0, t1, t2, t3, t4, t5, t6, t7, t8,
                   u0, u1, u2, u3, u4, u5, u6, u7, u8,
                   f0, f1, f2, f3, f4, f5, f6, f7, f8, f9};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

#define RUN multiscale
#include "multiscale.h"
