/* What tiles of `c` run of the first loop is one part for the sizes of all arrays; for others, its statements part. */
void f(int n, short m, double a[14], double *b, double d[n - 5][m - 2])
{
    double c[13][5];
    for (int x = 0; x < 13; x++)
        for (int y = 0; y < 5; y++)
            c[x][y] = (3 * x + 7 * y) % 11 * 0.7;
#pragma scop
    for (int i = 0; i <= m - 3; i++) {
        double s = 0.3;
        for (int j = 3; j < m - 2; j++)
            s += a[i + 4] - a[i + 2];
        b[i] = s * 1.7;
    }
    for (int i = m - 1; i > -1; i--) {
        const int next = i == m - 1 ? 0 : i + 1;
        for (int j = i; j < 2; j++)
            c[i + 1][j + 1] -= b[next] - b[next];
    }
    for (int i = 3; i < n - 5; i++)
        for (int j = 0; j < n - 2; j++)
            d[i][j] = b[i / 2 + i % 2] + c[m - 1][j / 2] + a[i + 1];
#pragma endscop
}
