/* Multiscale interpolation, as in ../arrays/multiscale.c, on flat arrays. */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(512, 512, 1024, 2560, 5120) /* multiples of 512 */
#define COLS SIZE(512, 512, 1024, 1536, 5120)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* An image of the size of level i along y and of level j along x. */
#define IMAGE(name, i, j) float *name = (float *)malloc(sizeof(float) * 4 * (R >> i) * (C >> j))

/* The stages of a level: each is one nest. h, w: rows and columns of the larger image, even. */
#define SHRINK_X(to, from, h, w)                                                                    \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < h; y++)                                                                 \
            for (int x = 0; x < w / 2; x++)                                                         \
                to[c * h * (w / 2) + y * (w / 2) + x] =                                             \
                    (from[c * h * w + y * w + MAX(2 * x - 1, 0)] + 2.0f * from[c * h * w + y * w + 2 * x] \
                     + from[c * h * w + y * w + 2 * x + 1]) * 0.25f
#define SHRINK_Y(to, from, h, w)                                                                    \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < h / 2; y++)                                                             \
            for (int x = 0; x < w / 2; x++)                                                         \
                to[c * (h / 2) * (w / 2) + y * (w / 2) + x] =                                       \
                    (from[c * h * (w / 2) + MAX(2 * y - 1, 0) * (w / 2) + x]                        \
                     + 2.0f * from[c * h * (w / 2) + 2 * y * (w / 2) + x]                           \
                     + from[c * h * (w / 2) + (2 * y + 1) * (w / 2) + x]) * 0.25f
#define STRETCH_X(to, from, h, w)                                                                   \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < h / 2; y++)                                                             \
            for (int x = 0; x < w; x++)                                                             \
                to[c * (h / 2) * w + y * w + x] =                                                   \
                    (from[c * (h / 2) * (w / 2) + y * (w / 2) + x / 2]                              \
                     + from[c * (h / 2) * (w / 2) + y * (w / 2) + MIN((x + 1) / 2, w / 2 - 1)]) * 0.5f
#define STRETCH_Y(to, from, h, w)                                                                   \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < h; y++)                                                                 \
            for (int x = 0; x < w; x++)                                                             \
                to[c * h * w + y * w + x] =                                                         \
                    (from[c * (h / 2) * w + y / 2 * w + x]                                          \
                     + from[c * (h / 2) * w + MIN((y + 1) / 2, h / 2 - 1) * w + x]) * 0.5f
#define FILL(to, from, below, h, w)                                                                 \
    for (int c = 0; c < 4; c++)                                                                     \
        for (int y = 0; y < h; y++)                                                                 \
            for (int x = 0; x < w; x++)                                                             \
                to[c * h * w + y * w + x] = from[c * h * w + y * w + x]                             \
                                            + (1.0f - from[3 * h * w + y * w + x]) * below[c * h * w + y * w + x]

void multiscale(int R, int C, const void *image, void *result)
{
    const float *in = (const float *)image;
    float *out = (float *)result;
    const int R1 = R >> 1, C1 = C >> 1;
    const int R2 = R >> 2, C2 = C >> 2;
    const int R3 = R >> 3, C3 = C >> 3;
    const int R4 = R >> 4, C4 = C >> 4;
    const int R5 = R >> 5, C5 = C >> 5;
    const int R6 = R >> 6, C6 = C >> 6;
    const int R7 = R >> 7, C7 = C >> 7;
    const int R8 = R >> 8, C8 = C >> 8;
    const int R9 = R >> 9, C9 = C >> 9;
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
        for (int y = 0; y < R; y++)
            for (int x = 0; x < C; x++)
                clean[c * R * C + y * C + x] = MIN(MAX(in[c * R * C + y * C + x], 0.0f), 1.0f);
    for (int y = 0; y < R; y++)
        for (int x = 0; x < C; x++) {
            d0[y * C + x] = clean[y * C + x] * clean[3 * R * C + y * C + x];
            d0[R * C + y * C + x] = clean[R * C + y * C + x] * clean[3 * R * C + y * C + x];
            d0[2 * R * C + y * C + x] = clean[2 * R * C + y * C + x] * clean[3 * R * C + y * C + x];
            d0[3 * R * C + y * C + x] = clean[3 * R * C + y * C + x];
        }
    SHRINK_X(s0, d0, R, C);
    SHRINK_Y(d1, s0, R, C);
    SHRINK_X(s1, d1, R1, C1);
    SHRINK_Y(d2, s1, R1, C1);
    SHRINK_X(s2, d2, R2, C2);
    SHRINK_Y(d3, s2, R2, C2);
    SHRINK_X(s3, d3, R3, C3);
    SHRINK_Y(d4, s3, R3, C3);
    SHRINK_X(s4, d4, R4, C4);
    SHRINK_Y(d5, s4, R4, C4);
    SHRINK_X(s5, d5, R5, C5);
    SHRINK_Y(d6, s5, R5, C5);
    SHRINK_X(s6, d6, R6, C6);
    SHRINK_Y(d7, s6, R6, C6);
    SHRINK_X(s7, d7, R7, C7);
    SHRINK_Y(d8, s7, R7, C7);
    SHRINK_X(s8, d8, R8, C8);
    SHRINK_Y(d9, s8, R8, C8);
    for (int c = 0; c < 4; c++)
        for (int y = 0; y < R9; y++)
            for (int x = 0; x < C9; x++)
                f9[c * R9 * C9 + y * C9 + x] = d9[c * R9 * C9 + y * C9 + x];
    STRETCH_X(t8, f9, R8, C8);
    STRETCH_Y(u8, t8, R8, C8);
    FILL(f8, d8, u8, R8, C8);
    STRETCH_X(t7, f8, R7, C7);
    STRETCH_Y(u7, t7, R7, C7);
    FILL(f7, d7, u7, R7, C7);
    STRETCH_X(t6, f7, R6, C6);
    STRETCH_Y(u6, t6, R6, C6);
    FILL(f6, d6, u6, R6, C6);
    STRETCH_X(t5, f6, R5, C5);
    STRETCH_Y(u5, t5, R5, C5);
    FILL(f5, d5, u5, R5, C5);
    STRETCH_X(t4, f5, R4, C4);
    STRETCH_Y(u4, t4, R4, C4);
    FILL(f4, d4, u4, R4, C4);
    STRETCH_X(t3, f4, R3, C3);
    STRETCH_Y(u3, t3, R3, C3);
    FILL(f3, d3, u3, R3, C3);
    STRETCH_X(t2, f3, R2, C2);
    STRETCH_Y(u2, t2, R2, C2);
    FILL(f2, d2, u2, R2, C2);
    STRETCH_X(t1, f2, R1, C1);
    STRETCH_Y(u1, t1, R1, C1);
    FILL(f1, d1, u1, R1, C1);
    STRETCH_X(t0, f1, R, C);
    STRETCH_Y(u0, t0, R, C);
    FILL(f0, d0, u0, R, C);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < R; y++)
            for (int x = 0; x < C; x++)
                out[c * R * C + y * C + x] = f0[c * R * C + y * C + x] / f0[3 * R * C + y * C + x];
#pragma endscop
    void *all[] = {clean, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9,
                   s0, s1, s2, s3, s4, s5, s6, s7, s8,
                   t0, t1, t2, t3, t4, t5, t6, t7, t8,
                   u0, u1, u2, u3, u4, u5, u6, u7, u8,
                   f0, f1, f2, f3, f4, f5, f6, f7, f8, f9};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

#define RUN(image, result) multiscale(ROWS, COLS, image, result)
#include "multiscale.h"
