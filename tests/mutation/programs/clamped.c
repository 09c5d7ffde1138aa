/* Values between two numbers, and steps, of which something is computed; elements that a condition leaves out. */
#include <math.h>

void clamped(int n, int m, float x[n][m], float y[n][m], float z[n][m], int in[n][m], double a[9], double w[16])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float v = x[i][j];
            if (v < -0.25f)
                v = -0.25f;
            if (v > 0.5f)
                v = 0.5f;
            y[i][j] = 3 * v + 1 - roundf(x[i][j] * 3);
            z[i][j] = fminf(fmaxf(x[i][j] * 2, y[i][j]), 1.5f) - 1;
            in[i][j] = x[i][j] > -0.5f && x[i][j] < 0.75f;
        }
    for (int k = 0; k < 16; k++)
        w[k] = k > 5 ? k : a[k % 3 + 6];
#pragma endscop
}
