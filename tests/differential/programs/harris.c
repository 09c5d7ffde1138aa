/* Harris corners: two gradients, three products, three box sums, one response; seven intermediates. */
#include "driver.h"

static void harris(int n, int m, float in[n][m], float out[n][m])
{
    float Ix[n][m], Iy[n][m], Ixx[n][m], Ixy[n][m], Iyy[n][m], Sxx[n][m], Sxy[n][m], Syy[n][m];
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            Ix[i][j] = in[i - 1][j - 1] * -0.083f + in[i + 1][j - 1] * 0.083f + in[i - 1][j] * -0.166f
                       + in[i + 1][j] * 0.166f + in[i - 1][j + 1] * -0.083f + in[i + 1][j + 1] * 0.083f;
            Iy[i][j] = in[i - 1][j - 1] * -0.083f + in[i - 1][j + 1] * 0.083f + in[i][j - 1] * -0.166f
                       + in[i][j + 1] * 0.166f + in[i + 1][j - 1] * -0.083f + in[i + 1][j + 1] * 0.083f;
        }
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            Ixx[i][j] = Ix[i][j] * Ix[i][j];
            Ixy[i][j] = Ix[i][j] * Iy[i][j];
            Iyy[i][j] = Iy[i][j] * Iy[i][j];
        }
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < m - 2; j++) {
            Sxx[i][j] = Ixx[i - 1][j - 1] + Ixx[i - 1][j] + Ixx[i - 1][j + 1] + Ixx[i][j - 1] + Ixx[i][j]
                        + Ixx[i][j + 1] + Ixx[i + 1][j - 1] + Ixx[i + 1][j] + Ixx[i + 1][j + 1];
            Sxy[i][j] = Ixy[i - 1][j - 1] + Ixy[i - 1][j] + Ixy[i - 1][j + 1] + Ixy[i][j - 1] + Ixy[i][j]
                        + Ixy[i][j + 1] + Ixy[i + 1][j - 1] + Ixy[i + 1][j] + Ixy[i + 1][j + 1];
            Syy[i][j] = Iyy[i - 1][j - 1] + Iyy[i - 1][j] + Iyy[i - 1][j + 1] + Iyy[i][j - 1] + Iyy[i][j]
                        + Iyy[i][j + 1] + Iyy[i + 1][j - 1] + Iyy[i + 1][j] + Iyy[i + 1][j + 1];
        }
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < m - 2; j++) {
            float det = Sxx[i][j] * Syy[i][j] - Sxy[i][j] * Sxy[i][j];
            float trace = Sxx[i][j] + Syy[i][j];
            out[i][j] = det - 0.04f * trace * trace;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 4, 5, 40, 70) {
        int m = n + 70;
        float *in = new_float(n * m), *out = new_float(n * m);
        harris(n, m, (void *)in, (void *)out);
        dump_float("out", out, n * m);
        free(in), free(out);
    }
    return 0;
}
