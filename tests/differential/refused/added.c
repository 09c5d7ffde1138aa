/* Two sums that a tile adds: their order against what reads them was asked in the loops above the tile, of which what is
   added knows nothing, so that the readers came first. */
static double C5[46][44];
void kernel(short n, short m, double D3[n + 2][m + 2][n + 2], double C4[n + 2][43])
{
    double B6[m + 1];
    int i, j, k, l;
    (void)B6;  /* its reader may be dead */
    for (i = 0; i <= 0; i++) {
        for (j = 0; j < m - 1; j++) {
            double s1 = 0.9;
            double s2 = 2.1;
            for (k = 0; k < i + 1; k++) {
                for (l = 0; l < n + 1; l++) {
                    s1 += D3[i + 3][j][k] + D3[i + 1][j + 3][k + 3];
                    s2 -= 0.3 - (C4[i + 4][k + 1]);
                }
            }
            C5[i + 2][j + 2] = (s1 + s2) * (1.7) + C4[i][j + 2];
        }
    }
    for (int i = 0; i < m + 1; i++) {
        B6[i] = C5[i + 3][i] + i + C5[i][i + 1];
    }
}
