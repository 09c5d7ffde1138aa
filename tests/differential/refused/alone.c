/* What the tiles of `out` run themselves is kept out of the sequence, in which nothing but their loop is left. */
void f(int n, double a[n + 4][n + 2], double out[n])
{
    double b[n - 3][n], c[n + 1][n];
#pragma scop
    for (int i = 0; i < n - 3; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = 0.3;
    for (int i = 0; i < n + 1; i++)
        for (int j = 0; j < n; j++)
            c[i][j] = b[0][j];
    for (int i = 0; i <= n - 1; i++)
        out[i] += a[i * i % 7 + 1][i + 2] + (i > 6 ? c[-i + n][i] : a[i][(i < n - 1 ? i - 1 : n - 1) + 1]);
#pragma endscop
}
