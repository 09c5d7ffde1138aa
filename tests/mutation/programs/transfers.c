#include <string.h>

void transfers(int n, double x[200], double y[400], double z[20][4], double f[80], int d[200])
{
#pragma scop
    for (int k = 0; k < 3; k++) {
        memcpy(x + 2, y + k, n * sizeof(double));
        for (int i = 0; i < n; i++)
            y[2 * i] = x[i + 2] + 1;
    }
    memset(d, -1, n * sizeof *d);
    for (int i = 1; i < n; i++)
        d[i] += d[i - 1];
    memcpy(z, f, sizeof(double) * 20 * 4);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 4; j++)
            f[4 * i + j] = z[i][j] + 1;
#pragma endscop
}
