/* Elimination along the rows, and back; and rows of which each needs the one before. */
void interleaved(int n, int m, double d, double p[n][m], double q[n][m], double u[n][m], double v[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 1; j < m; j++)
            p[i][j] = u[i][j] / (2.0 * p[i][j - 1] + 3.0);
        for (int j = m - 2; j >= 1; j--)
            q[i][j] = p[i][j] * q[i][j + 1] + u[i][j];
    }
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            v[i][j] = v[i][j - 1] * 0.25 / (1.0 + v[i - 1][j] * v[i - 1][j]);
#pragma endscop
}
