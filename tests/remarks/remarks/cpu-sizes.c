void transpose(int n, const double in[n][n], double out[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = in[j][i];
#pragma endscop
}
