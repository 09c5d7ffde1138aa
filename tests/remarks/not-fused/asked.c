void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
#pragma polyc fuse(no)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            B[i][j] = A[i - 1][j] + A[i + 1][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] += B[j][i];
#pragma endscop
}
