/*
 * Local Laplacian filter: detail is made stronger at each scale, edges are kept.
 *
 *   gray, from a picture of three colours in 16 bits
 *   for each of K brightnesses k: a picture that a curve has changed around k, and its Gaussian pyramid g
 *   the pyramid of differences l of each: a level less the next one, stretched
 *   the Gaussian pyramid i of gray chooses, at each place, between the two pictures of the next brightnesses
 *   the pyramid that comes out, added up from its top, gives the new gray; colours keep their ratio to it
 *
 * Shrinking is (1, 3, 3, 1) / 8 at every second place, stretching (1, 3) / 4 or (3, 1) / 4, along x and along y by
 * themselves. At an edge, the last pixel stands for those behind it. Eight levels, K = 8, 84 nests.
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#define ROWS SIZE(128, 256, 512, 2560, 5120) /* multiples of 128 */
#define COLS SIZE(128, 256, 512, 1536, 5120)
#define K 8
#define STEPS 256 /* of the curve, between two brightnesses */
#define STRENGTH (1.0f / (K - 1))
#define TINY 0.01f
#define H(j) (ROWS >> (j))
#define W(j) (COLS >> (j))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* One image, or K of them, of the size of level i along y and of level j along x. */
#define IMAGE(name, i, j) float (*name)[W(j)] = malloc(sizeof(float[H(i)][W(j)]))
#define IMAGES(name, i, j) float (*name)[H(i)][W(j)] = malloc(sizeof(float[K][H(i)][W(j)]))

/* The stages of a level: each is one nest. Those with an S are for K images. */
#define SHRINK_X(to, from, j)                                                                           \
    for (int y = 0; y < H(j); y++)                                                                      \
        for (int x = 0; x < W(j + 1); x++)                                                              \
            to[y][x] = (from[y][MAX(2 * x - 1, 0)] + 3.0f * (from[y][2 * x] + from[y][2 * x + 1])       \
                        + from[y][MIN(2 * x + 2, W(j) - 1)]) * 0.125f
#define SHRINK_Y(to, from, j)                                                                           \
    for (int y = 0; y < H(j + 1); y++)                                                                  \
        for (int x = 0; x < W(j + 1); x++)                                                              \
            to[y][x] = (from[MAX(2 * y - 1, 0)][x] + 3.0f * (from[2 * y][x] + from[2 * y + 1][x])       \
                        + from[MIN(2 * y + 2, H(j) - 1)][x]) * 0.125f
#define STRETCH_X(to, from, j)                                                                          \
    for (int y = 0; y < H(j + 1); y++)                                                                  \
        for (int x = 0; x < W(j + 1); x++) {                                                            \
            to[y][2 * x] = 0.25f * from[y][MAX(x - 1, 0)] + 0.75f * from[y][x];                         \
            to[y][2 * x + 1] = 0.75f * from[y][x] + 0.25f * from[y][MIN(x + 1, W(j + 1) - 1)];          \
        }
#define STRETCH_Y(to, from, j)                                                                          \
    for (int y = 0; y < H(j + 1); y++)                                                                  \
        for (int x = 0; x < W(j); x++) {                                                                \
            to[2 * y][x] = 0.25f * from[MAX(y - 1, 0)][x] + 0.75f * from[y][x];                         \
            to[2 * y + 1][x] = 0.75f * from[y][x] + 0.25f * from[MIN(y + 1, H(j + 1) - 1)][x];          \
        }
#define SHRINK_XS(to, from, j)                                                                          \
    for (int k = 0; k < K; k++)                                                                         \
        for (int y = 0; y < H(j); y++)                                                                  \
            for (int x = 0; x < W(j + 1); x++)                                                          \
                to[k][y][x] = (from[k][y][MAX(2 * x - 1, 0)]                                            \
                               + 3.0f * (from[k][y][2 * x] + from[k][y][2 * x + 1])                     \
                               + from[k][y][MIN(2 * x + 2, W(j) - 1)]) * 0.125f
#define SHRINK_YS(to, from, j)                                                                          \
    for (int k = 0; k < K; k++)                                                                         \
        for (int y = 0; y < H(j + 1); y++)                                                              \
            for (int x = 0; x < W(j + 1); x++)                                                          \
                to[k][y][x] = (from[k][MAX(2 * y - 1, 0)][x]                                            \
                               + 3.0f * (from[k][2 * y][x] + from[k][2 * y + 1][x])                     \
                               + from[k][MIN(2 * y + 2, H(j) - 1)][x]) * 0.125f
#define STRETCH_XS(to, from, j)                                                                         \
    for (int k = 0; k < K; k++)                                                                         \
        for (int y = 0; y < H(j + 1); y++)                                                              \
            for (int x = 0; x < W(j + 1); x++) {                                                        \
                to[k][y][2 * x] = 0.25f * from[k][y][MAX(x - 1, 0)] + 0.75f * from[k][y][x];            \
                to[k][y][2 * x + 1] = 0.75f * from[k][y][x]                                             \
                                      + 0.25f * from[k][y][MIN(x + 1, W(j + 1) - 1)];                   \
            }
#define STRETCH_YS(to, from, j)                                                                         \
    for (int k = 0; k < K; k++)                                                                         \
        for (int y = 0; y < H(j + 1); y++)                                                              \
            for (int x = 0; x < W(j); x++) {                                                            \
                to[k][2 * y][x] = 0.25f * from[k][MAX(y - 1, 0)][x] + 0.75f * from[k][y][x];            \
                to[k][2 * y + 1][x] = 0.75f * from[k][y][x]                                             \
                                      + 0.25f * from[k][MIN(y + 1, H(j + 1) - 1)][x];                   \
            }
#define DIFFERENCES(to, from, wide, j)                                                                  \
    for (int k = 0; k < K; k++)                                                                         \
        for (int y = 0; y < H(j); y++)                                                                  \
            for (int x = 0; x < W(j); x++)                                                              \
                to[k][y][x] = from[k][y][x] - wide[k][y][x]
#define CHOOSE(to, from, by, j)                                                                         \
    for (int y = 0; y < H(j); y++)                                                                      \
        for (int x = 0; x < W(j); x++) {                                                                \
            int k = MIN(MAX((int)(by[y][x] * (K - 1)), 0), K - 2);                                      \
            float t = by[y][x] * (K - 1) - (float)k;                                                    \
            to[y][x] = (1.0f - t) * from[k][y][x] + t * from[k + 1][y][x];                              \
        }
#define ADD(to, from, wide, j)                                                                          \
    for (int y = 0; y < H(j); y++)                                                                      \
        for (int x = 0; x < W(j); x++)                                                                  \
            to[y][x] = from[y][x] + wide[y][x]

void laplacian(const unsigned short in[3][ROWS][COLS], unsigned short out[3][ROWS][COLS])
{
    float (*light)[ROWS][COLS] = malloc(sizeof(float[3][ROWS][COLS]));
    float *curve = malloc(sizeof(float[2 * (K - 1) * STEPS + 1]));
    IMAGE(gray, 0, 0);
    IMAGES(g0, 0, 0);
    IMAGES(gx0, 0, 1);
    IMAGES(g1, 1, 1);
    IMAGES(gx1, 1, 2);
    IMAGES(g2, 2, 2);
    IMAGES(gx2, 2, 3);
    IMAGES(g3, 3, 3);
    IMAGES(gx3, 3, 4);
    IMAGES(g4, 4, 4);
    IMAGES(gx4, 4, 5);
    IMAGES(g5, 5, 5);
    IMAGES(gx5, 5, 6);
    IMAGES(g6, 6, 6);
    IMAGES(gx6, 6, 7);
    IMAGES(g7, 7, 7);
    IMAGES(lx6, 7, 6);
    IMAGES(ly6, 6, 6);
    IMAGES(l6, 6, 6);
    IMAGES(lx5, 6, 5);
    IMAGES(ly5, 5, 5);
    IMAGES(l5, 5, 5);
    IMAGES(lx4, 5, 4);
    IMAGES(ly4, 4, 4);
    IMAGES(l4, 4, 4);
    IMAGES(lx3, 4, 3);
    IMAGES(ly3, 3, 3);
    IMAGES(l3, 3, 3);
    IMAGES(lx2, 3, 2);
    IMAGES(ly2, 2, 2);
    IMAGES(l2, 2, 2);
    IMAGES(lx1, 2, 1);
    IMAGES(ly1, 1, 1);
    IMAGES(l1, 1, 1);
    IMAGES(lx0, 1, 0);
    IMAGES(ly0, 0, 0);
    IMAGES(l0, 0, 0);
    IMAGE(ix0, 0, 1);
    IMAGE(i1, 1, 1);
    IMAGE(ix1, 1, 2);
    IMAGE(i2, 2, 2);
    IMAGE(ix2, 2, 3);
    IMAGE(i3, 3, 3);
    IMAGE(ix3, 3, 4);
    IMAGE(i4, 4, 4);
    IMAGE(ix4, 4, 5);
    IMAGE(i5, 5, 5);
    IMAGE(ix5, 5, 6);
    IMAGE(i6, 6, 6);
    IMAGE(ix6, 6, 7);
    IMAGE(i7, 7, 7);
    IMAGE(c7, 7, 7);
    IMAGE(c6, 6, 6);
    IMAGE(c5, 5, 5);
    IMAGE(c4, 4, 4);
    IMAGE(c3, 3, 3);
    IMAGE(c2, 2, 2);
    IMAGE(c1, 1, 1);
    IMAGE(c0, 0, 0);
    IMAGE(ox6, 7, 6);
    IMAGE(oy6, 6, 6);
    IMAGE(o6, 6, 6);
    IMAGE(ox5, 6, 5);
    IMAGE(oy5, 5, 5);
    IMAGE(o5, 5, 5);
    IMAGE(ox4, 5, 4);
    IMAGE(oy4, 4, 4);
    IMAGE(o4, 4, 4);
    IMAGE(ox3, 4, 3);
    IMAGE(oy3, 3, 3);
    IMAGE(o3, 3, 3);
    IMAGE(ox2, 3, 2);
    IMAGE(oy2, 2, 2);
    IMAGE(o2, 2, 2);
    IMAGE(ox1, 2, 1);
    IMAGE(oy1, 1, 1);
    IMAGE(o1, 1, 1);
    IMAGE(ox0, 1, 0);
    IMAGE(oy0, 0, 0);
    IMAGE(o0, 0, 0);
    float (*colour)[ROWS][COLS] = malloc(sizeof(float[3][ROWS][COLS]));

#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                light[c][y][x] = in[c][y][x] * (1.0f / 65535.0f);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            gray[y][x] = 0.299f * light[0][y][x] + 0.587f * light[1][y][x] + 0.114f * light[2][y][x];
    for (int i = 0; i < 2 * (K - 1) * STEPS + 1; i++)
        curve[i] = STRENGTH * ((float)(i - (K - 1) * STEPS) / STEPS)
                   * expf(-0.5f * ((float)(i - (K - 1) * STEPS) / STEPS) * ((float)(i - (K - 1) * STEPS) / STEPS));
    for (int k = 0; k < K; k++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                g0[k][y][x] = gray[y][x] + curve[MIN(MAX((int)(gray[y][x] * ((K - 1) * STEPS)), 0), (K - 1) * STEPS)
                                                 - STEPS * k + (K - 1) * STEPS];
    SHRINK_XS(gx0, g0, 0);
    SHRINK_YS(g1, gx0, 0);
    SHRINK_XS(gx1, g1, 1);
    SHRINK_YS(g2, gx1, 1);
    SHRINK_XS(gx2, g2, 2);
    SHRINK_YS(g3, gx2, 2);
    SHRINK_XS(gx3, g3, 3);
    SHRINK_YS(g4, gx3, 3);
    SHRINK_XS(gx4, g4, 4);
    SHRINK_YS(g5, gx4, 4);
    SHRINK_XS(gx5, g5, 5);
    SHRINK_YS(g6, gx5, 5);
    SHRINK_XS(gx6, g6, 6);
    SHRINK_YS(g7, gx6, 6);
    STRETCH_XS(lx6, g7, 6);
    STRETCH_YS(ly6, lx6, 6);
    DIFFERENCES(l6, g6, ly6, 6);
    STRETCH_XS(lx5, g6, 5);
    STRETCH_YS(ly5, lx5, 5);
    DIFFERENCES(l5, g5, ly5, 5);
    STRETCH_XS(lx4, g5, 4);
    STRETCH_YS(ly4, lx4, 4);
    DIFFERENCES(l4, g4, ly4, 4);
    STRETCH_XS(lx3, g4, 3);
    STRETCH_YS(ly3, lx3, 3);
    DIFFERENCES(l3, g3, ly3, 3);
    STRETCH_XS(lx2, g3, 2);
    STRETCH_YS(ly2, lx2, 2);
    DIFFERENCES(l2, g2, ly2, 2);
    STRETCH_XS(lx1, g2, 1);
    STRETCH_YS(ly1, lx1, 1);
    DIFFERENCES(l1, g1, ly1, 1);
    STRETCH_XS(lx0, g1, 0);
    STRETCH_YS(ly0, lx0, 0);
    DIFFERENCES(l0, g0, ly0, 0);
    SHRINK_X(ix0, gray, 0);
    SHRINK_Y(i1, ix0, 0);
    SHRINK_X(ix1, i1, 1);
    SHRINK_Y(i2, ix1, 1);
    SHRINK_X(ix2, i2, 2);
    SHRINK_Y(i3, ix2, 2);
    SHRINK_X(ix3, i3, 3);
    SHRINK_Y(i4, ix3, 3);
    SHRINK_X(ix4, i4, 4);
    SHRINK_Y(i5, ix4, 4);
    SHRINK_X(ix5, i5, 5);
    SHRINK_Y(i6, ix5, 5);
    SHRINK_X(ix6, i6, 6);
    SHRINK_Y(i7, ix6, 6);
    CHOOSE(c7, g7, i7, 7);
    CHOOSE(c6, l6, i6, 6);
    CHOOSE(c5, l5, i5, 5);
    CHOOSE(c4, l4, i4, 4);
    CHOOSE(c3, l3, i3, 3);
    CHOOSE(c2, l2, i2, 2);
    CHOOSE(c1, l1, i1, 1);
    CHOOSE(c0, l0, gray, 0);
    STRETCH_X(ox6, c7, 6);
    STRETCH_Y(oy6, ox6, 6);
    ADD(o6, c6, oy6, 6);
    STRETCH_X(ox5, o6, 5);
    STRETCH_Y(oy5, ox5, 5);
    ADD(o5, c5, oy5, 5);
    STRETCH_X(ox4, o5, 4);
    STRETCH_Y(oy4, ox4, 4);
    ADD(o4, c4, oy4, 4);
    STRETCH_X(ox3, o4, 3);
    STRETCH_Y(oy3, ox3, 3);
    ADD(o3, c3, oy3, 3);
    STRETCH_X(ox2, o3, 2);
    STRETCH_Y(oy2, ox2, 2);
    ADD(o2, c2, oy2, 2);
    STRETCH_X(ox1, o2, 1);
    STRETCH_Y(oy1, ox1, 1);
    ADD(o1, c1, oy1, 1);
    STRETCH_X(ox0, o1, 0);
    STRETCH_Y(oy0, ox0, 0);
    ADD(o0, c0, oy0, 0);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                colour[c][y][x] = o0[y][x] * (light[c][y][x] + TINY) / (gray[y][x] + TINY);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                out[c][y][x] = (unsigned short)(MIN(MAX(colour[c][y][x], 0.0f), 1.0f) * 65535.0f);
#pragma endscop
    void *all[] = {light, curve, gray, g0, gx0, g1, gx1, g2, gx2, g3, gx3, g4, gx4, g5, gx5, g6, gx6, g7, lx6, ly6,
                   l6, lx5, ly5, l5, lx4, ly4, l4, lx3, ly3, l3, lx2, ly2, l2, lx1, ly1, l1, lx0, ly0, l0, ix0, i1,
                   ix1, i2, ix2, i3, ix3, i4, ix4, i5, ix5, i6, ix6, i7, c7, c6, c5, c4, c3, c2, c1, c0, ox6, oy6,
                   o6, ox5, oy5, o5, ox4, oy4, o4, ox3, oy3, o3, ox2, oy2, o2, ox1, oy1, o1, ox0, oy0, o0, colour};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

#define RUN laplacian
#include "laplacian.h"
