/* Loops that count down. */
void f(int n, int m, double A[n][m], double x[m], double y[n], double z[m])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--)
            y[i] += A[i][j] * x[j];
    for (int j = m - 1; j >= 0; j--)
        for (int i = n - 1; i >= 0; i--)
            z[j] += A[i][j] * y[i];
#pragma endscop
}
