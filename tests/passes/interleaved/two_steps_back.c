/* Rows in an array of three dimensions, each element from the two before it. */
void two_steps_back(int r, int n, int m, float A[r][n][m])
{
#pragma scop
    for (int k = 0; k < r; k++)
        for (int i = 0; i < n; i++)
            for (int j = 2; j < m; j++)
                A[k][i][j] = A[k][i][j] + 0.25f * A[k][i][j - 1] - 0.125f * A[k][i][j - 2];
#pragma endscop
}
