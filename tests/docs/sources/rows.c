void windows(int n, float out[n][1000], float in[n + 2][1002])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 1000; j++)
            out[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2] + in[i + 1][j] + in[i + 1][j + 1] + in[i + 1][j + 2]
                      + in[i + 2][j] + in[i + 2][j + 1] + in[i + 2][j + 2];
#pragma endscop
}
