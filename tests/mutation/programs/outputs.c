/* Two outputs that need the same tiles of one producer, and one that reads the other halves. */
void outputs(int n, int m, double a[n][m], double x[n][m], double y[n][m], double z[n][m])
{
    double p[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i][j] = a[i][j] * 3.0 + 1.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m - 1; j++)
            x[i][j] = p[i][j] - p[i][j + 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m - 1; j++)
            y[i][j] = p[i][j] * p[i][j + 1];
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            z[i][j] = p[i][j] + p[i + 1][j];
#pragma endscop
}
