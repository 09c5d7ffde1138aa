double g[2000][2000];
void f(const double in[2000][2000], double out[2000][2000])
{
#pragma scop
    for (int i = 1; i < 1999; i++)
        for (int j = 1; j < 1999; j++)
            g[i][j] = in[i][j] + in[i][j + 1];
    for (int i = 1; i < 1999; i++)
        for (int j = 1; j < 1999; j++)
            out[i][j] = g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1];
#pragma endscop
}
