/* Unsharp mask, as in ../arrays/unsharp.c, on flat arrays. */
#include "harness.h"

#include <math.h>
#include <stdlib.h>

#define ROWS SIZE(20, 64, 256, 2048, 4096)
#define COLS SIZE(30, 64, 256, 2048, 4096)

void unsharp(int R, int C, float weight, float threshold, const void *image, void *result)
{
    const float *in = (const float *)image;
    float *out = (float *)result;
    float *down = (float *)malloc(sizeof(float) * 3 * R * (C + 4));
    float *blur = (float *)malloc(sizeof(float) * 3 * R * C);
    float *sharp = (float *)malloc(sizeof(float) * 3 * R * C);

#pragma polyc live-out(out)
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C + 4; j++)
                down[c * R * (C + 4) + i * (C + 4) + j] =
                    (in[c * (R + 4) * (C + 4) + i * (C + 4) + j]
                     + 4.0f * in[c * (R + 4) * (C + 4) + (i + 1) * (C + 4) + j]
                     + 6.0f * in[c * (R + 4) * (C + 4) + (i + 2) * (C + 4) + j]
                     + 4.0f * in[c * (R + 4) * (C + 4) + (i + 3) * (C + 4) + j]
                     + in[c * (R + 4) * (C + 4) + (i + 4) * (C + 4) + j]) * 0.0625f;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                blur[c * R * C + i * C + j] =
                    (down[c * R * (C + 4) + i * (C + 4) + j] + 4.0f * down[c * R * (C + 4) + i * (C + 4) + j + 1]
                     + 6.0f * down[c * R * (C + 4) + i * (C + 4) + j + 2]
                     + 4.0f * down[c * R * (C + 4) + i * (C + 4) + j + 3]
                     + down[c * R * (C + 4) + i * (C + 4) + j + 4]) * 0.0625f;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                sharp[c * R * C + i * C + j] =
                    (1.0f + weight) * in[c * (R + 4) * (C + 4) + (i + 2) * (C + 4) + j + 2]
                    - weight * blur[c * R * C + i * C + j];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++)
                out[c * R * C + i * C + j] =
                    fabsf(in[c * (R + 4) * (C + 4) + (i + 2) * (C + 4) + j + 2]
                          - blur[c * R * C + i * C + j]) < threshold
                        ? in[c * (R + 4) * (C + 4) + (i + 2) * (C + 4) + j + 2]
                        : sharp[c * R * C + i * C + j];
#pragma endscop
    free(down);
    free(blur);
    free(sharp);
}

#define RUN(image, result) unsharp(ROWS, COLS, 3.0f, 0.001f, image, result)
#include "unsharp.h"
