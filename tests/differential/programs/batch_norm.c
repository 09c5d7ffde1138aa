/* Batch normalisation: mean, variance, then normalise, scale and ReLU; two reductions over one input. */
#include "driver.h"
#include <math.h>

static void batch_norm(int b, int c, int s, float x[b][c][s], float gamma[c], float beta[c], float y[b][c][s])
{
    float mean[c], var[c];
#pragma scop
    for (int k = 0; k < c; k++)
        mean[k] = var[k] = 0.0f;
    for (int n = 0; n < b; n++)
        for (int k = 0; k < c; k++)
            for (int i = 0; i < s; i++)
                mean[k] += x[n][k][i];
    for (int k = 0; k < c; k++)
        mean[k] /= (float)(b * s);
    for (int n = 0; n < b; n++)
        for (int k = 0; k < c; k++)
            for (int i = 0; i < s; i++)
                var[k] += (x[n][k][i] - mean[k]) * (x[n][k][i] - mean[k]);
    for (int n = 0; n < b; n++)
        for (int k = 0; k < c; k++)
            for (int i = 0; i < s; i++)
                y[n][k][i] = gamma[k] * (x[n][k][i] - mean[k]) / sqrtf(var[k] / (float)(b * s) + 1e-5f) + beta[k];
    for (int n = 0; n < b; n++)
        for (int k = 0; k < c; k++)
            for (int i = 0; i < s; i++)
                y[n][k][i] = y[n][k][i] > 0.0f ? y[n][k][i] : 0.0f;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 9, 34) {
        int c = n / 2 + 1, s = n + 5, all = n * c * s;
        float *x = new_float(all), *gamma = new_float(c), *beta = new_float(c), *y = new_float(all);
        batch_norm(n, c, s, (void *)x, gamma, beta, (void *)y);
        dump_float("y", y, all);
        free(x), free(gamma), free(beta), free(y);
    }
    return 0;
}
