/* A solve without a division is one statement. */
void f(int n, double L[n][n], double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
#pragma endscop
}
