/*
 * A recurrent cell (LSTM) over a few steps: the gates are two products into one sum, and lie behind each other in a row.
 */
#include <math.h>

#include "clock.h"

#ifdef SMALL
enum { BATCH = 3, IN = 7, HIDDEN = 10, STEPS = 3 };
#else
enum { BATCH = 32, IN = 128, HIDDEN = 192, STEPS = 12 };
#endif

static void gates_of(int batch, int in, int hidden, const float *w, const float *u, const float *bias, const float *x,
                     const float *state, float *gates)
{
#pragma scop
    for (int n = 0; n < batch; n++)
        for (int g = 0; g < 4 * hidden; g++) {
            float sum = bias[g];
            for (int i = 0; i < in; i++)
                sum += w[g * in + i] * x[n * in + i];
            for (int i = 0; i < hidden; i++)
                sum += u[g * hidden + i] * state[n * hidden + i];
            gates[n * 4 * hidden + g] = sum;
        }
#pragma endscop
}

static void cell(int batch, int hidden, const float *gates, float *kept, float *state)
{
#pragma scop
    for (int n = 0; n < batch; n++)
        for (int j = 0; j < hidden; j++) {
            const float *row = gates + n * 4 * hidden;
            float enter = 1.0f / (1.0f + fabsf(row[j])), forget = 1.0f / (1.0f + fabsf(row[hidden + j]));
            float value = row[2 * hidden + j], leave = 1.0f / (1.0f + fabsf(row[3 * hidden + j]));
            kept[n * hidden + j] = forget * kept[n * hidden + j] + enter * value;
            state[n * hidden + j] = leave * kept[n * hidden + j];
        }
#pragma endscop
}

int main(void)
{
    float *w = memory(4 * HIDDEN * IN, sizeof(float)), *u = memory(4 * HIDDEN * HIDDEN, sizeof(float));
    float *bias = memory(4 * HIDDEN, sizeof(float)), *x = memory(BATCH * IN, sizeof(float));
    float *state = memory(BATCH * HIDDEN, sizeof(float)), *kept = memory(BATCH * HIDDEN, sizeof(float));
    float *gates = memory(BATCH * 4 * HIDDEN, sizeof(float));
    double sum = 0.0;

    for (int k = 0; k < 4 * HIDDEN * IN; k++)
        w[k] = 0.1f * (float)noise() - 0.05f;
    for (int k = 0; k < 4 * HIDDEN * HIDDEN; k++)
        u[k] = 0.1f * (float)noise() - 0.05f;
    for (int k = 0; k < 4 * HIDDEN; k++)
        bias[k] = k / HIDDEN == 1 ? 1.0f : 0.0f;
    for (int k = 0; k < BATCH * IN; k++)
        x[k] = (float)noise();
    for (int k = 0; k < BATCH * HIDDEN; k++)
        state[k] = kept[k] = 0.0f;
    clock_start();
    for (int step = 0; step < STEPS; step++) {
        gates_of(BATCH, IN, HIDDEN, w, u, bias, x, state, gates);
        cell(BATCH, HIDDEN, gates, kept, state);
        x[step] = state[step];
    }
    clock_stop();
    for (int k = 0; k < BATCH * HIDDEN; k++)
        sum += state[k] * (1 + k % 9);
    printf("%.17g\n", sum);
    return 0;
}
