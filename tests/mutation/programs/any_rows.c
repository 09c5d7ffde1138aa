/* A window of 3 x 3 over the gradients of an image of any size: the last rows are less than four. */
void any_rows(int n, int m, const float in[n + 4][m + 2], float d[n + 2][m + 2], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m + 2; j++)
            d[i][j] = (in[i + 2][j] - in[i][j]) * 0.5f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = d[i][j] + d[i][j + 1] + d[i][j + 2] + d[i + 1][j] + d[i + 1][j + 1] + d[i + 1][j + 2]
                        + d[i + 2][j] + d[i + 2][j + 1] + d[i + 2][j + 2];
#pragma endscop
}
