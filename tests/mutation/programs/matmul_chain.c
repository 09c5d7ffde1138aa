/* Two products; the first one lives in the tiles of the second. */
void matmul_chain(int n, double A[n][n], double B[n][n], double C[n][n], double F[n][n])
{
    double E[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            E[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            F[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                F[i][j] += E[i][k] * C[k][j];
        }
#pragma endscop
}
