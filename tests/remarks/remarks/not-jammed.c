void f(int n, int m, int A[n][m], int x[n], int y[m])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            y[j] += A[i][j] * x[i];
#pragma endscop
}
