/* A bank of FIR filters over one signal, and the energy that each band has. Everything lies in flat arrays. */
#include "clock.h"

#ifdef SMALL
#define LENGTH 300
#define TAPS 16
#define BANDS 3
#else
#define LENGTH 48000
#define TAPS 64
#define BANDS 16
#endif

/* x has taps - 1 samples of history before the n new ones. */
static void filter_bank(int bands, int taps, int n, const float *h, const float *x, float *y, double *energy)
{
#pragma scop
    for (int b = 0; b < bands; b++) {
        for (int i = 0; i < n; i++) {
            float acc = 0.0f;

            for (int k = 0; k < taps; k++)
                acc += h[b * taps + k] * x[i + taps - 1 - k];
            y[b * n + i] = acc;
        }
        energy[b] = 0.0;
        for (int i = 0; i < n; i++)
            energy[b] += y[b * n + i] * y[b * n + i];
        energy[b] /= n;
    }
#pragma endscop
}

int main(void)
{
    float *h = memory(BANDS * TAPS, sizeof *h), *x = memory(LENGTH + TAPS - 1, sizeof *x);
    float *y = memory(BANDS * LENGTH, sizeof *y);
    double *energy = memory(BANDS, sizeof *energy), sum = 0.0;

    for (int i = 0; i < BANDS * TAPS; i++)
        h[i] = (float)(noise() - 0.5) / TAPS;
    for (int i = 0; i < LENGTH + TAPS - 1; i++)
        x[i] = (float)(2.0 * noise() - 1.0);
    clock_start();
    filter_bank(BANDS, TAPS, LENGTH, h, x, y, energy);
    clock_stop();
    for (int b = 0; b < BANDS; b++)
        sum += energy[b] * (b + 1);
    for (int i = 0; i < BANDS * LENGTH; i++)
        sum += y[i] * (i % 7);
    printf("%.17g\n", sum);
    free(energy);
    free(y);
    free(x);
    free(h);
    return 0;
}
