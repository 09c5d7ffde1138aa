void slide(float out[2000][2000], float rows[2000][2000], float in[2000][2000])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 2000; i++)
        for (int j = 1; j < 1999; j++)
            rows[i][j] = in[i][j - 1] + in[i][j] + in[i][j + 1];
    for (int i = 2; i < 1998; i++)
        for (int j = 1; j < 1999; j++)
            out[i][j] = rows[i - 2][j] + rows[i][j] + rows[i + 2][j];
#pragma endscop
}
