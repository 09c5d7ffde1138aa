/* Two windows of 3 x 3 one after the other, along strips of tiles: four rows at once share what they read. */
void sliding_rows(int n, int m, const float in[n + 4][m + 4], float out[n][m])
{
    float mid[n + 2][m + 2];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m + 2; j++)
            mid[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2] + in[i + 1][j] + in[i + 1][j + 1] + in[i + 1][j + 2]
                        + in[i + 2][j] + in[i + 2][j + 1] + in[i + 2][j + 2];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = mid[i][j] + mid[i][j + 1] - mid[i][j + 2] + mid[i + 1][j] - mid[i + 1][j + 1]
                        + mid[i + 1][j + 2] - mid[i + 2][j] + mid[i + 2][j + 1] * mid[i + 2][j + 2];
#pragma endscop
}
