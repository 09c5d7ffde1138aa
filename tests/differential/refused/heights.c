/* Tiles of 450 rows, of registers four high: what a tile runs at its end belongs to the next one. */
#include <string.h>
void kernel(short n, int m, double B1[25], double C2[n + 2][n + 14], float C3[n + 2][m + 4])
{
    int i, j, k, l;
#pragma scop
    for (i = 3; i < n - 3; i++) {
        for (j = 3; j < m - 3; j++) {
            C3[i][j] = 0.3;
        }
        if (m - 3 > 3) memset(&C3[i][3], 0, (m - 3 - 3) * sizeof(float));
    }
    for (i = 3; i < n - 3; i++) {
        for (j = 3; j < m - 3; j++) {
            for (k = 0; k < 4; k++) {
                for (l = 0; l < 2; l++) {
                    C3[i][j] -= (B1[i + k]) * (C2[k + 1][j]);
                }
            }
        }
    }
#pragma endscop
}
