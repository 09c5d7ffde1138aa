void triples(int n, float B[n][7][9], float A[n][7][9], float b[9])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            for (int k = 0; k < 9; k++)
                B[i][j][k] = 2 * A[i][j][k] + b[k];
#pragma endscop
}
