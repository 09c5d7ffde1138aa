void f(int n, int m, double A[n][m], double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            A[i][j] = B[i][j] / (0.5 * A[i][j - 1] + 2.0);
#pragma endscop
}
