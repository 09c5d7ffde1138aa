/*
 * Layers of a small network, whose strides and borders are fields of a struct: a depthwise 3 x 3 convolution, the
 * largest of 2 x 2, and a dense convolution.
 */
#include "clock.h"

#ifdef SMALL
enum { CHANNELS = 4, SIDE = 18, ROUNDS = 2 };
#else
enum { CHANNELS = 48, SIDE = 112, ROUNDS = 3 };
#endif

struct layer {
    int channels, height, width, out_height, out_width, stride, border;
};

static void depthwise(const struct layer *l, const float *in, const float *weights, float *out)
{
#pragma scop
    for (int c = 0; c < l->channels; c++)
        for (int y = 0; y < l->out_height; y++)
            for (int x = 0; x < l->out_width; x++) {
                float sum = 0.0f;
                for (int v = 0; v < 3; v++)
                    for (int u = 0; u < 3; u++) {
                        int row = y * l->stride + v - l->border, column = x * l->stride + u - l->border;
                        if (row >= 0 && row < l->height && column >= 0 && column < l->width)
                            sum += weights[(c * 3 + v) * 3 + u] * in[(c * l->height + row) * l->width + column];
                    }
                out[(c * l->out_height + y) * l->out_width + x] = sum < 0.0f ? 0.0f : sum;
            }
#pragma endscop
}

static void largest(const struct layer *l, const float *in, float *out)
{
#pragma scop
    for (int c = 0; c < l->channels; c++)
        for (int y = 0; y < l->out_height; y++)
            for (int x = 0; x < l->out_width; x++) {
                float most = -1e30f;
                for (int v = 0; v < 2; v++)
                    for (int u = 0; u < 2; u++) {
                        float value = in[(c * l->height + y * l->stride + v) * l->width + x * l->stride + u];
                        most = value > most ? value : most;
                    }
                out[(c * l->out_height + y) * l->out_width + x] = most;
            }
#pragma endscop
}

static void dense(const struct layer *l, int filters, const float *in, const float *weights, float *out)
{
#pragma scop
    for (int f = 0; f < filters; f++)
        for (int y = 0; y < l->out_height; y++)
            for (int x = 0; x < l->out_width; x++) {
                float sum = 0.0f;
                for (int c = 0; c < l->channels; c++)
                    sum += weights[f * l->channels + c]
                           * in[(c * l->height + y * l->stride) * l->width + x * l->stride];
                out[(f * l->out_height + y) * l->out_width + x] = sum;
            }
#pragma endscop
}

int main(void)
{
    const struct layer first = { CHANNELS, SIDE, SIDE, SIDE, SIDE, 1, 1 };
    const struct layer second = { CHANNELS, SIDE, SIDE, SIDE / 2, SIDE / 2, 2, 0 };
    const struct layer third = { CHANNELS, SIDE / 2, SIDE / 2, SIDE / 2, SIDE / 2, 1, 0 };
    float *a = memory(CHANNELS * SIDE * SIDE, sizeof(float)), *b = memory(CHANNELS * SIDE * SIDE, sizeof(float));
    float *small = memory(CHANNELS * SIDE * SIDE, sizeof(float)), *out = memory(CHANNELS * SIDE * SIDE, sizeof(float));
    float *weights = memory(CHANNELS * (CHANNELS + 9), sizeof(float));
    double sum = 0.0;

    for (int k = 0; k < CHANNELS * SIDE * SIDE; k++)
        a[k] = (float)noise();
    for (int k = 0; k < CHANNELS * (CHANNELS + 9); k++)
        weights[k] = (float)noise() - 0.5f;
    clock_start();
    for (int round = 0; round < ROUNDS; round++) {
        depthwise(&first, a, weights, b);
        largest(&second, b, small);
        dense(&third, CHANNELS, small, weights + 9 * CHANNELS, out);
        a[round] = out[round];
    }
    clock_stop();
    for (int k = 0; k < CHANNELS * SIDE * SIDE / 4; k++)
        sum += out[k] * (1 + k % 5);
    printf("%.17g\n", sum);
    return 0;
}
