/* An update in place of part of an array whose other part keeps its old values, then a stencil over all of it. */
void in_place(int n, int m, double a[n][m], double out[n][m])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            a[i][j] += 1.0;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i][j] = a[i][j] + a[i + 1][j] - a[i][j + 1] + a[i - 1][j - 1];
#pragma endscop
}
