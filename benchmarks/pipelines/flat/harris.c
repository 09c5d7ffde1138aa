/* Harris corners, as in ../arrays/harris.c, on flat arrays. */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(20, 64, 256, 6400, 8192)
#define COLS SIZE(30, 64, 256, 6400, 8192)

void harris(int R, int C, const void *image, void *corners)
{
    const float *in = (const float *)image;
    float *out = (float *)corners;
    float *Ix = (float *)malloc(sizeof(float) * (R + 2) * (C + 2));
    float *Iy = (float *)malloc(sizeof(float) * (R + 2) * (C + 2));
    float *Ixx = (float *)malloc(sizeof(float) * (R + 2) * (C + 2));
    float *Iyy = (float *)malloc(sizeof(float) * (R + 2) * (C + 2));
    float *Ixy = (float *)malloc(sizeof(float) * (R + 2) * (C + 2));
    float *Sxx = (float *)malloc(sizeof(float) * R * C);
    float *Syy = (float *)malloc(sizeof(float) * R * C);
    float *Sxy = (float *)malloc(sizeof(float) * R * C);
    float *det = (float *)malloc(sizeof(float) * R * C);
    float *trace = (float *)malloc(sizeof(float) * R * C);

#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < R + 2; i++)
        for (int j = 0; j < C + 2; j++)
            Ix[i * (C + 2) + j] = (in[i * (C + 4) + j + 2] - in[i * (C + 4) + j]
                        + 2.0f * (in[(i + 1) * (C + 4) + j + 2] - in[(i + 1) * (C + 4) + j])
                        + in[(i + 2) * (C + 4) + j + 2] - in[(i + 2) * (C + 4) + j]) * (1.0f / 12.0f);
    for (int i = 0; i < R + 2; i++)
        for (int j = 0; j < C + 2; j++)
            Iy[i * (C + 2) + j] = (in[(i + 2) * (C + 4) + j] - in[i * (C + 4) + j]
                        + 2.0f * (in[(i + 2) * (C + 4) + j + 1] - in[i * (C + 4) + j + 1])
                        + in[(i + 2) * (C + 4) + j + 2] - in[i * (C + 4) + j + 2]) * (1.0f / 12.0f);
    for (int i = 0; i < R + 2; i++)
        for (int j = 0; j < C + 2; j++)
            Ixx[i * (C + 2) + j] = Ix[i * (C + 2) + j] * Ix[i * (C + 2) + j];
    for (int i = 0; i < R + 2; i++)
        for (int j = 0; j < C + 2; j++)
            Iyy[i * (C + 2) + j] = Iy[i * (C + 2) + j] * Iy[i * (C + 2) + j];
    for (int i = 0; i < R + 2; i++)
        for (int j = 0; j < C + 2; j++)
            Ixy[i * (C + 2) + j] = Ix[i * (C + 2) + j] * Iy[i * (C + 2) + j];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            Sxx[i * C + j] = Ixx[i * (C + 2) + j] + Ixx[i * (C + 2) + j + 1] + Ixx[i * (C + 2) + j + 2]
                        + Ixx[(i + 1) * (C + 2) + j] + Ixx[(i + 1) * (C + 2) + j + 1]
                        + Ixx[(i + 1) * (C + 2) + j + 2] + Ixx[(i + 2) * (C + 2) + j]
                        + Ixx[(i + 2) * (C + 2) + j + 1] + Ixx[(i + 2) * (C + 2) + j + 2];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            Syy[i * C + j] = Iyy[i * (C + 2) + j] + Iyy[i * (C + 2) + j + 1] + Iyy[i * (C + 2) + j + 2]
                        + Iyy[(i + 1) * (C + 2) + j] + Iyy[(i + 1) * (C + 2) + j + 1]
                        + Iyy[(i + 1) * (C + 2) + j + 2] + Iyy[(i + 2) * (C + 2) + j]
                        + Iyy[(i + 2) * (C + 2) + j + 1] + Iyy[(i + 2) * (C + 2) + j + 2];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            Sxy[i * C + j] = Ixy[i * (C + 2) + j] + Ixy[i * (C + 2) + j + 1] + Ixy[i * (C + 2) + j + 2]
                        + Ixy[(i + 1) * (C + 2) + j] + Ixy[(i + 1) * (C + 2) + j + 1]
                        + Ixy[(i + 1) * (C + 2) + j + 2] + Ixy[(i + 2) * (C + 2) + j]
                        + Ixy[(i + 2) * (C + 2) + j + 1] + Ixy[(i + 2) * (C + 2) + j + 2];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            det[i * C + j] = Sxx[i * C + j] * Syy[i * C + j] - Sxy[i * C + j] * Sxy[i * C + j];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            trace[i * C + j] = Sxx[i * C + j] + Syy[i * C + j];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++)
            out[i * C + j] = det[i * C + j] - 0.04f * trace[i * C + j] * trace[i * C + j];
#pragma endscop
    free(Ix);
    free(Iy);
    free(Ixx);
    free(Iyy);
    free(Ixy);
    free(Sxx);
    free(Syy);
    free(Sxy);
    free(det);
    free(trace);
}


#define RUN(image, corners) harris(ROWS, COLS, image, corners)
#include "harris.h"
