/* Bilateral grid, as in ../arrays/bilateral.c, on flat arrays. */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(32, 64, 256, 2560, 4096)
#define COLS SIZE(48, 64, 256, 1536, 4096)
#define CELL 8

#define IN(y, x) in[(y) * C + (x)]
#define GRID(c, y, x, z) grid[(((c) * (Y + 4) + (y)) * (X + 4) + (x)) * (Z + 4) + (z)]
#define BLURZ(c, y, x, z) blurz[(((c) * (Y + 4) + (y)) * (X + 4) + (x)) * Z + (z)]
#define BLURY(c, y, x, z) blury[(((c) * Y + (y)) * (X + 4) + (x)) * Z + (z)]
#define BLURX(c, y, x, z) blurx[(((c) * Y + (y)) * X + (x)) * Z + (z)]
#define SLICE(c, y, x) slice[((c) * R + (y)) * C + (x)]
#define OUT(y, x) out[(y) * C + (x)]

void bilateral(int R, int C, int levels, const void *image, void *result)
{
    const float *in = (const float *)image;
    float *out = (float *)result;
    const int Y = R / CELL + 1, X = C / CELL + 1, Z = levels + 2;
    float *grid = (float *)malloc(sizeof(float) * 2 * (Y + 4) * (X + 4) * (Z + 4));
    float *blurz = (float *)malloc(sizeof(float) * 2 * (Y + 4) * (X + 4) * Z);
    float *blury = (float *)malloc(sizeof(float) * 2 * Y * (X + 4) * Z);
    float *blurx = (float *)malloc(sizeof(float) * 2 * Y * X * Z);
    float *slice = (float *)malloc(sizeof(float) * 2 * R * C);

#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y + 4; y++)
            for (int x = 0; x < X + 4; x++)
                for (int z = 0; z < Z + 4; z++)
                    GRID(c, y, x, z) = 0.0f;
    for (int y = 0; y < R; y++)
        for (int x = 0; x < C; x++) {
            int z = (int)(IN(y, x) * levels + 0.5f);
            GRID(0, (y + CELL / 2) / CELL + 2, (x + CELL / 2) / CELL + 2, z + 2) += IN(y, x);
            GRID(1, (y + CELL / 2) / CELL + 2, (x + CELL / 2) / CELL + 2, z + 2) += 1.0f;
        }
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y + 4; y++)
            for (int x = 0; x < X + 4; x++)
                for (int z = 0; z < Z; z++)
                    BLURZ(c, y, x, z) = GRID(c, y, x, z) + 4.0f * GRID(c, y, x, z + 1) + 6.0f * GRID(c, y, x, z + 2)
                                        + 4.0f * GRID(c, y, x, z + 3) + GRID(c, y, x, z + 4);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X + 4; x++)
                for (int z = 0; z < Z; z++)
                    BLURY(c, y, x, z) = BLURZ(c, y, x, z) + 4.0f * BLURZ(c, y + 1, x, z)
                                        + 6.0f * BLURZ(c, y + 2, x, z) + 4.0f * BLURZ(c, y + 3, x, z)
                                        + BLURZ(c, y + 4, x, z);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++)
                for (int z = 0; z < Z; z++)
                    BLURX(c, y, x, z) = BLURY(c, y, x, z) + 4.0f * BLURY(c, y, x + 1, z)
                                        + 6.0f * BLURY(c, y, x + 2, z) + 4.0f * BLURY(c, y, x + 3, z)
                                        + BLURY(c, y, x + 4, z);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < R; y++)
            for (int x = 0; x < C; x++) {
                int z = (int)(IN(y, x) * levels);
                float v = IN(y, x) * levels - (float)z;
                float u = (float)(y % CELL) / CELL;
                float t = (float)(x % CELL) / CELL;
                SLICE(c, y, x) =
                    (1.0f - v) * ((1.0f - u) * ((1.0f - t) * BLURX(c, y / CELL, x / CELL, z)
                                                + t * BLURX(c, y / CELL, x / CELL + 1, z))
                                  + u * ((1.0f - t) * BLURX(c, y / CELL + 1, x / CELL, z)
                                         + t * BLURX(c, y / CELL + 1, x / CELL + 1, z)))
                    + v * ((1.0f - u) * ((1.0f - t) * BLURX(c, y / CELL, x / CELL, z + 1)
                                         + t * BLURX(c, y / CELL, x / CELL + 1, z + 1))
                           + u * ((1.0f - t) * BLURX(c, y / CELL + 1, x / CELL, z + 1)
                                  + t * BLURX(c, y / CELL + 1, x / CELL + 1, z + 1)));
            }
    for (int y = 0; y < R; y++)
        for (int x = 0; x < C; x++)
            OUT(y, x) = SLICE(0, y, x) / SLICE(1, y, x);
#pragma endscop
    free(grid);
    free(blurz);
    free(blury);
    free(blurx);
    free(slice);
}

#define RUN(image, result) bilateral(ROWS, COLS, 10, image, result)
#include "bilateral.h"
