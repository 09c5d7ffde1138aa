void f(int n, int m, const float in[n][m], const float table[2][16], float out[n][m])
{
    float t[2][n][m];
#pragma scop
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                int k = (int)in[i][j] & 15;
                t[c][i][j] = (in[i][j] - (float)k) * table[c][k];
            }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = t[0][i][j] / (1.0f + t[1][i][j]);
#pragma endscop
}
