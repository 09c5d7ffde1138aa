/*
 * Bilateral grid: an edge-preserving blur. Each pixel goes to a coarse cell of its place and its brightness; cells are
 * blurred; each pixel reads its own brightness back between the eight cells around it.
 *
 *   grid[0][y][x][z] += image, grid[1][y][x][z] += 1   y, x: every 8 pixels, z: every tenth of brightness, rounded
 *   blur = g * grid over z, y and x, g = (1, 4, 6, 4, 1)
 *   out = blur[0] / blur[1], both interpolated linearly in y, x and z
 *
 * Seven stages: zero, scatter, three blurs, slice, quotient. Cells have a border of two for the blurs.
 */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(32, 64, 256, 2560, 4096)
#define COLS SIZE(48, 64, 256, 1536, 4096)
#define CELL 8
#define LEVELS 10
#define Y (ROWS / CELL + 1)
#define X (COLS / CELL + 1)
#define Z (LEVELS + 2)

void bilateral(const float in[ROWS][COLS], float out[ROWS][COLS])
{
    float (*grid)[Y + 4][X + 4][Z + 4] = malloc(sizeof(float[2][Y + 4][X + 4][Z + 4]));
    float (*blurz)[Y + 4][X + 4][Z] = malloc(sizeof(float[2][Y + 4][X + 4][Z]));
    float (*blury)[Y][X + 4][Z] = malloc(sizeof(float[2][Y][X + 4][Z]));
    float (*blurx)[Y][X][Z] = malloc(sizeof(float[2][Y][X][Z]));
    float (*slice)[ROWS][COLS] = malloc(sizeof(float[2][ROWS][COLS]));

#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y + 4; y++)
            for (int x = 0; x < X + 4; x++)
                for (int z = 0; z < Z + 4; z++)
                    grid[c][y][x][z] = 0.0f;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++) {
            int z = (int)(in[y][x] * LEVELS + 0.5f);
            grid[0][(y + CELL / 2) / CELL + 2][(x + CELL / 2) / CELL + 2][z + 2] += in[y][x];
            grid[1][(y + CELL / 2) / CELL + 2][(x + CELL / 2) / CELL + 2][z + 2] += 1.0f;
        }
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y + 4; y++)
            for (int x = 0; x < X + 4; x++)
                for (int z = 0; z < Z; z++)
                    blurz[c][y][x][z] = grid[c][y][x][z] + 4.0f * grid[c][y][x][z + 1] + 6.0f * grid[c][y][x][z + 2]
                                        + 4.0f * grid[c][y][x][z + 3] + grid[c][y][x][z + 4];
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X + 4; x++)
                for (int z = 0; z < Z; z++)
                    blury[c][y][x][z] = blurz[c][y][x][z] + 4.0f * blurz[c][y + 1][x][z]
                                        + 6.0f * blurz[c][y + 2][x][z] + 4.0f * blurz[c][y + 3][x][z]
                                        + blurz[c][y + 4][x][z];
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++)
                for (int z = 0; z < Z; z++)
                    blurx[c][y][x][z] = blury[c][y][x][z] + 4.0f * blury[c][y][x + 1][z]
                                        + 6.0f * blury[c][y][x + 2][z] + 4.0f * blury[c][y][x + 3][z]
                                        + blury[c][y][x + 4][z];
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++) {
                int z = (int)(in[y][x] * LEVELS);
                float v = in[y][x] * LEVELS - (float)z;
                float u = (float)(y % CELL) / CELL;
                float t = (float)(x % CELL) / CELL;
                slice[c][y][x] =
                    (1.0f - v) * ((1.0f - u) * ((1.0f - t) * blurx[c][y / CELL][x / CELL][z]
                                                + t * blurx[c][y / CELL][x / CELL + 1][z])
                                  + u * ((1.0f - t) * blurx[c][y / CELL + 1][x / CELL][z]
                                         + t * blurx[c][y / CELL + 1][x / CELL + 1][z]))
                    + v * ((1.0f - u) * ((1.0f - t) * blurx[c][y / CELL][x / CELL][z + 1]
                                         + t * blurx[c][y / CELL][x / CELL + 1][z + 1])
                           + u * ((1.0f - t) * blurx[c][y / CELL + 1][x / CELL][z + 1]
                                  + t * blurx[c][y / CELL + 1][x / CELL + 1][z + 1]));
            }
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLS; x++)
            out[y][x] = slice[0][y][x] / slice[1][y][x];
#pragma endscop
    free(grid);
    free(blurz);
    free(blury);
    free(blurx);
    free(slice);
}

#define RUN bilateral
#include "bilateral.h"
