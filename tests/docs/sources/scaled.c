void scaled(int n, int m, float out[n][m], float in[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = 2 * in[i][j];
#pragma endscop
}
