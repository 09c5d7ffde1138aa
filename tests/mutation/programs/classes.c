/* Lengths of gradients, and classes of them that floating comparisons decide. */
#include <math.h>

void classes(int n, int m, double g[n][m], double h[n][m], double length[n][m], int class[n][m], double low, double high)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            length[i][j] = sqrt(g[i][j] * g[i][j] + h[i][j] * h[i][j] + 2);
            class[i][j] = g[i][j] >= low && h[i][j] >= low ? length[i][j] > high ? 2 : 1 : 0;
        }
#pragma endscop
}
