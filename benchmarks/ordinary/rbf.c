/*
 * Gaussian process regression, the part that fills and applies its matrix: squared distances of all pairs of points,
 * one half computed and mirrored, a Gaussian of each, noise on the diagonal, and the product with a vector of weights.
 */
#include "clock.h"

#include <math.h>

#ifdef SMALL
#define POINTS 40
#define DIM 3
#else
#define POINTS 1800
#define DIM 10
#endif

static void kernel_matrix(int n, double x[n][DIM], double length_scale, double noise_level, double K[n][n],
                          const double *alpha, double *mean)
{
    double scale = -0.5 / (length_scale * length_scale);

#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double d2 = 0.0;

            for (int k = 0; k < DIM; k++)
                d2 += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]);
            K[i][j] = exp(scale * d2);
            K[j][i] = K[i][j];
        }
        K[i][i] = 1.0 + noise_level;
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;

        for (int j = 0; j < n; j++)
            sum += K[i][j] * alpha[j];
        mean[i] = sum;
    }
#pragma endscop
}

int main(void)
{
    double (*x)[DIM] = memory(POINTS, sizeof *x), (*K)[POINTS] = memory(POINTS, sizeof *K);
    double *alpha = memory(POINTS, sizeof *alpha), *mean = memory(POINTS, sizeof *mean), sum = 0.0;

    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < DIM; k++)
            x[i][k] = noise();
        alpha[i] = noise() - 0.5;
    }
    clock_start();
    kernel_matrix(POINTS, x, 0.8, 1e-6, K, alpha, mean);
    clock_stop();
    for (int i = 0; i < POINTS; i++)
        sum += mean[i] * (i % 9) + K[i][POINTS - 1 - i];
    printf("%.17g\n", sum);
    free(mean);
    free(alpha);
    free(K);
    free(x);
    return 0;
}
