/* Unsharp mask on three channels: the blurred images are of this function only. */
#include "driver.h"

static void unsharp(int n, int m, float img[3][n][m], float mask[3][n][m], float weight, float threshold)
{
    float bx[3][n][m], by[3][n][m];
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 2; i < n - 2; i++)
            for (int j = 0; j < m; j++)
                bx[c][i][j] = 0.0625f * img[c][i - 2][j] + 0.25f * img[c][i - 1][j] + 0.375f * img[c][i][j]
                              + 0.25f * img[c][i + 1][j] + 0.0625f * img[c][i + 2][j];
    for (int c = 0; c < 3; c++)
        for (int i = 2; i < n - 2; i++)
            for (int j = 2; j < m - 2; j++)
                by[c][i][j] = 0.0625f * bx[c][i][j - 2] + 0.25f * bx[c][i][j - 1] + 0.375f * bx[c][i][j]
                              + 0.25f * bx[c][i][j + 1] + 0.0625f * bx[c][i][j + 2];
    for (int c = 0; c < 3; c++)
        for (int i = 2; i < n - 2; i++)
            for (int j = 2; j < m - 2; j++) {
                float sharp = img[c][i][j] * (1 + weight) + by[c][i][j] * -weight;
                float d = img[c][i][j] - by[c][i][j];
                mask[c][i][j] = (d < 0 ? -d : d) < threshold ? img[c][i][j] : sharp;
            }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 5, 36, 66) {
        int m = n + 9;
        float *img = new_float(3 * n * m), *mask = new_float(3 * n * m);
        unsharp(n, m, (void *)img, (void *)mask, 3.0f, 0.01f);
        dump_float("mask", mask, 3 * n * m);
        free(img), free(mask);
    }
    return 0;
}
