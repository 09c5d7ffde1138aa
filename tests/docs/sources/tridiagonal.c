void eliminate(int n, int m, double p[n][m], double d, double e, double f)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            p[i][j] = f / (d * p[i][j - 1] + e);
#pragma endscop
}
