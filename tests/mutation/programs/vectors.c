/* A loop along memory outside of one that carries a sum, and a nest whose far loop is innermost. */
void vectors(int n, double A[n][n], double x[n], double y[n], double T[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[i] += A[j][i] * x[j];
    for (int j = 0; j < n; j++)
        for (int i = 1; i < n; i++)
            T[i][j] = T[i - 1][j] + A[i][j];
#pragma endscop
}
