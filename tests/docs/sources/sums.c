void sums(int n, int m, double s[n], double a[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] += a[i][j];
#pragma endscop
}
