#include <math.h>
void weights(int n, int m, const double x[restrict n][m], double y[restrict n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double s = 0;
            for (int k = 0; k < m; k++)
                s += x[i][k] * x[i][k];
            y[i][j] = x[i][j] * exp(-0.5 * j) / s;
        }
#pragma endscop
}
