/* Depthwise and pointwise convolution with a bias and a residual: five dimensions in all. */
#include "driver.h"

static void block(int c, int h, int w, float x[c][h + 2][w + 2], float k[c][3][3], float p[c][c], float bias[c],
                  float y[c][h][w])
{
    float d[c][h][w];
#pragma scop
    for (int l = 0; l < c; l++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                float s = 0.0f;
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++)
                        s += x[l][i + a][j + b] * k[l][a][b];
                d[l][i][j] = s > 0.0f ? s : 0.1f * s;
            }
    for (int o = 0; o < c; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                y[o][i][j] = bias[o] + x[o][i + 1][j + 1];
                for (int l = 0; l < c; l++)
                    y[o][i][j] += d[l][i][j] * p[o][l];
            }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(c, 1, 3, 6)
        FOR_SIZES(h, 1, 5, 34) {
            int w = h + 4;
            float *x = new_float(c * (h + 2) * (w + 2)), *k = new_float(9 * c), *p = new_float(c * c),
                  *bias = new_float(c), *y = new_float(c * h * w);
            block(c, h, w, (void *)x, (void *)k, (void *)p, bias, (void *)y);
            dump_float("y", y, c * h * w);
            free(x), free(k), free(p), free(bias), free(y);
        }
    return 0;
}
