/*
 * Harris corners: how much a window changes when it moves, from the products of the gradients in it.
 *
 *   Ix, Iy = the Sobel gradients / 12
 *   S = sums of Ix Ix, Iy Iy, Ix Iy over windows of 3 x 3
 *   out = det S - 0.04 (trace S)^2
 *
 * Eleven stages. The image has a border of two pixels.
 */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(20, 64, 256, 6400, 8192)
#define COLS SIZE(30, 64, 256, 6400, 8192)

void harris(const float in[ROWS + 4][COLS + 4], float out[ROWS][COLS])
{
    float (*Ix)[COLS + 2] = malloc(sizeof(float[ROWS + 2][COLS + 2]));
    float (*Iy)[COLS + 2] = malloc(sizeof(float[ROWS + 2][COLS + 2]));
    float (*Ixx)[COLS + 2] = malloc(sizeof(float[ROWS + 2][COLS + 2]));
    float (*Iyy)[COLS + 2] = malloc(sizeof(float[ROWS + 2][COLS + 2]));
    float (*Ixy)[COLS + 2] = malloc(sizeof(float[ROWS + 2][COLS + 2]));
    float (*Sxx)[COLS] = malloc(sizeof(float[ROWS][COLS]));
    float (*Syy)[COLS] = malloc(sizeof(float[ROWS][COLS]));
    float (*Sxy)[COLS] = malloc(sizeof(float[ROWS][COLS]));
    float (*det)[COLS] = malloc(sizeof(float[ROWS][COLS]));
    float (*trace)[COLS] = malloc(sizeof(float[ROWS][COLS]));

#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            Ix[i][j] = (in[i][j + 2] - in[i][j] + 2.0f * (in[i + 1][j + 2] - in[i + 1][j])
                        + in[i + 2][j + 2] - in[i + 2][j]) * (1.0f / 12.0f);
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            Iy[i][j] = (in[i + 2][j] - in[i][j] + 2.0f * (in[i + 2][j + 1] - in[i][j + 1])
                        + in[i + 2][j + 2] - in[i][j + 2]) * (1.0f / 12.0f);
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            Ixx[i][j] = Ix[i][j] * Ix[i][j];
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            Iyy[i][j] = Iy[i][j] * Iy[i][j];
    for (int i = 0; i < ROWS + 2; i++)
        for (int j = 0; j < COLS + 2; j++)
            Ixy[i][j] = Ix[i][j] * Iy[i][j];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            Sxx[i][j] = Ixx[i][j] + Ixx[i][j + 1] + Ixx[i][j + 2] + Ixx[i + 1][j] + Ixx[i + 1][j + 1]
                        + Ixx[i + 1][j + 2] + Ixx[i + 2][j] + Ixx[i + 2][j + 1] + Ixx[i + 2][j + 2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            Syy[i][j] = Iyy[i][j] + Iyy[i][j + 1] + Iyy[i][j + 2] + Iyy[i + 1][j] + Iyy[i + 1][j + 1]
                        + Iyy[i + 1][j + 2] + Iyy[i + 2][j] + Iyy[i + 2][j + 1] + Iyy[i + 2][j + 2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            Sxy[i][j] = Ixy[i][j] + Ixy[i][j + 1] + Ixy[i][j + 2] + Ixy[i + 1][j] + Ixy[i + 1][j + 1]
                        + Ixy[i + 1][j + 2] + Ixy[i + 2][j] + Ixy[i + 2][j + 1] + Ixy[i + 2][j + 2];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            det[i][j] = Sxx[i][j] * Syy[i][j] - Sxy[i][j] * Sxy[i][j];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            trace[i][j] = Sxx[i][j] + Syy[i][j];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            out[i][j] = det[i][j] - 0.04f * trace[i][j] * trace[i][j];
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

#define RUN harris
#include "harris.h"
