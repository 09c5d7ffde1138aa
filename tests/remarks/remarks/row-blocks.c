void f(int n, int m, double A[n][m], double x[n], double y[m], double s[m], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i] += A[i][j] * y[j];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * x[i];
#pragma endscop
}
