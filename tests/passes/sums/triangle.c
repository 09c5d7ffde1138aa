/* Rows of a triangle: what is no whole block of rows is added after it. */
void f(int n, double L[n][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            y[i] -= L[i][j] * x[j];
#pragma endscop
}
