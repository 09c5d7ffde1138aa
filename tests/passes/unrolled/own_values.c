/* Each iteration keeps a value, so that a variable is declared in what is unrolled. */
void own_values(int m, const float in[63][m + 2], float s[61][m], float out[61][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            s[i][j] = in[i][j] + in[i][j + 1] + in[i][j + 2] + in[i + 1][j] + in[i + 1][j + 2] + in[i + 2][j]
                      + in[i + 2][j + 1] + in[i + 2][j + 2];
    for (int i = 0; i < 61; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = s[i][j] * s[i][j];
#pragma endscop
}
