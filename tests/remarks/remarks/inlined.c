void transposed(int n, int m, float a[n][m], float c[m][n])
{
    float t[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i][j] = 2.0f * a[i][j] + 1.0f;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            c[i][j] = t[j][i];
#pragma endscop
}
