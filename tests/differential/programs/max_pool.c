/* Convolution, ReLU and 2x2 max pooling: strides on both sides of the producer. */
#include "driver.h"

static void pool(int n, float in[2 * n + 2][2 * n + 2], float k[3][3], float out[n][n])
{
    float c[2 * n][2 * n];
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        for (int j = 0; j < 2 * n; j++) {
            c[i][j] = 0.0f;
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++)
                    c[i][j] += in[i + p][j + q] * k[p][q];
            if (c[i][j] < 0.0f)
                c[i][j] = 0.0f;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i][j] = c[2 * i][2 * j];
            for (int p = 0; p < 2; p++)
                for (int q = 0; q < 2; q++)
                    out[i][j] = out[i][j] > c[2 * i + p][2 * j + q] ? out[i][j] : c[2 * i + p][2 * j + q];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 17, 70) {
        int m = 2 * n + 2;
        float *in = new_float(m * m), *k = new_float(9), *out = new_float(n * n);
        pool(n, (void *)in, (void *)k, (void *)out);
        dump_float("out", out, n * n);
        free(in), free(k), free(out);
    }
    return 0;
}
