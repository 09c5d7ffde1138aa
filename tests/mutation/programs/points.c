/* Points of a grid with three values each: a loop along a line goes inside of one over planes, and loops that were
   written in the same outer one share it again, but for one that reads what another row makes. */
void points(int n, int m, double u[n][m][n][3], double f[n][m], double r[n][m], double s[n][m])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int k = 0; k < n; k++)
            for (int i = 1; i < n; i++)
                for (int c = 0; c < 3; c++)
                    u[i][j][k][c] = 0.5 * s[i][j] + u[i - 1][j][k][c];
    for (int i = 1; i < n; i++) {
        for (int k = 0; k < m; k++)
            f[i][k] = s[i][k] * s[i][k];
        for (int k = 1; k < m - 1; k++)
            r[i][k] -= f[i][k + 1] - f[i][k - 1];
        for (int k = 1; k < m; k++)
            s[i][k] = r[i][k] + r[i - 1][k - 1];
    }
#pragma endscop
}
