/* A window of 3 x 3 over an image of any size: the last rows are less than four. */
void any_rows(int n, int m, const float in[n + 2][m + 2], float out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2] + in[i + 1][j] + in[i + 1][j + 1] + in[i + 1][j + 2]
                        + in[i + 2][j] + in[i + 2][j + 1] + in[i + 2][j + 2];
#pragma endscop
}
