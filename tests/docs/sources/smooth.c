void smooth(float out[2000][2000], float in[2002][2002])
{
#pragma scop
    for (int i = 0; i < 2000; i++)
        for (int j = 0; j < 2000; j++)
            out[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2] + in[i + 1][j] + in[i + 1][j + 1] + in[i + 1][j + 2];
#pragma endscop
}
