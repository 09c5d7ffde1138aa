void stencils(float out[2000][2000], float between[2000][2000], float in[2000][2000])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 1; i < 1999; i++)
        for (int j = 1; j < 1999; j++)
            between[i][j] = in[i - 1][j] + in[i][j - 1] + in[i][j] + in[i][j + 1] + in[i + 1][j];
    for (int i = 2; i < 1998; i++)
        for (int j = 2; j < 1998; j++)
            out[i][j] = between[i - 1][j] + between[i][j - 1] + between[i][j] + between[i][j + 1] + between[i + 1][j];
#pragma endscop
}
