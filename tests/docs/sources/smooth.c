void smooth(float out[2000][2000], float in[2002][2003])
{
    float d[2002][2002];
#pragma scop
    for (int i = 0; i < 2002; i++)
        for (int j = 0; j < 2002; j++)
            d[i][j] = in[i][j + 1] - in[i][j];
    for (int i = 0; i < 2000; i++)
        for (int j = 0; j < 2000; j++)
            out[i][j] = d[i][j] + d[i][j + 1] + d[i][j + 2] + d[i + 1][j] + d[i + 1][j + 1] + d[i + 1][j + 2];
#pragma endscop
}
