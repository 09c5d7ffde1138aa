/* The array is changed first: all dependences stay in a column, so that threads take columns. */
void f(int n, double A[n][n], double u[n], double v[n], double x[n], double y[n], double w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = A[i][j] + u[i] * v[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] = x[i] + A[j][i] * y[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] = w[i] + A[i][j] * x[j];
#pragma endscop
}
