void f(int n, const float in[n][n], float a[n][n], float b[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = 2.0f * in[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = in[j][i] + 1.0f;
#pragma endscop
}
