void wide(int n, float A[n][1024], float B[n][1024])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 1024; j++)
            B[i][j] = 2 * A[i][j];
#pragma endscop
}
