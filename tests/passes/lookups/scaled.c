void f(int n, int m, const int col[n], const double a[n][m], double out[n][m])
{
    double b[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = 2.0 * a[i][j];
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = b[i - 1][j] + b[i][col[i] & 3];
#pragma endscop
}
