/* A 3 x 3 window of a picture's gradients: rows share most of what they read. */
void box(int m, const float in[65][m + 4], float d[63][m + 4], float out[61][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 63; i++)
        for (int j = 0; j < m + 4; j++)
            d[i][j] = (in[i + 2][j] - in[i][j]) * 0.5f;
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = d[i][j] + d[i][j + 1] + d[i][j + 2] + d[i + 1][j] + d[i + 1][j + 1] + d[i + 1][j + 2]
                        + d[i + 2][j] + d[i + 2][j + 1] + d[i + 2][j + 2];
#pragma endscop
}
