/* Loops over triangles, a scan along rows, and a wavefront. */
void triangular(int n, double a[n][n], double s[n][n], double w[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            s[i][j] = a[i][j] + a[j][i];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n; j++)
            a[i][j] = a[i][j] + a[i][j - 1];
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            w[i][j] = w[i - 1][j] + w[i][j - 1] + s[i][0];
#pragma endscop
}
