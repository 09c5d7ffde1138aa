void filter(int n, int m, double a[restrict n][m], double b[restrict n][m], double *restrict work)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            work[j] = 0.5 * a[i][j];
        for (int j = 2; j < m; j++)
            b[i][j] = work[j] - work[j - 2];
    }
#pragma endscop
}
