/*
 * Unsharp mask: what a Gaussian filter takes away from an image is added to it, where that is more than a threshold.
 *
 *   blur = g * image over both axes, g = (1, 4, 6, 4, 1) / 16
 *   sharp = (1 + WEIGHT) image - WEIGHT blur
 *   out = sharp where |image - blur| >= THRESHOLD, else image
 *
 * Four stages on three planes. The image has a border of two pixels.
 */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#define ROWS SIZE(20, 64, 256, 2048, 4096)
#define COLS SIZE(30, 64, 256, 2048, 4096)
#define WEIGHT 3.0f
#define THRESHOLD 0.001f

void unsharp(const float in[3][ROWS + 4][COLS + 4], float out[3][ROWS][COLS])
{
    float (*down)[ROWS][COLS + 4] = malloc(sizeof(float[3][ROWS][COLS + 4]));
    float (*blur)[ROWS][COLS] = malloc(sizeof(float[3][ROWS][COLS]));
    float (*sharp)[ROWS][COLS] = malloc(sizeof(float[3][ROWS][COLS]));

#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS + 4; j++)
                down[c][i][j] = (in[c][i][j] + 4.0f * in[c][i + 1][j] + 6.0f * in[c][i + 2][j]
                                 + 4.0f * in[c][i + 3][j] + in[c][i + 4][j]) * 0.0625f;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                blur[c][i][j] = (down[c][i][j] + 4.0f * down[c][i][j + 1] + 6.0f * down[c][i][j + 2]
                                 + 4.0f * down[c][i][j + 3] + down[c][i][j + 4]) * 0.0625f;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                sharp[c][i][j] = (1.0f + WEIGHT) * in[c][i + 2][j + 2] - WEIGHT * blur[c][i][j];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++)
                out[c][i][j] = fabsf(in[c][i + 2][j + 2] - blur[c][i][j]) < THRESHOLD ? in[c][i + 2][j + 2]
                                                                                      : sharp[c][i][j];
#pragma endscop
    free(down);
    free(blur);
    free(sharp);
}

#define RUN unsharp
#include "unsharp.h"
