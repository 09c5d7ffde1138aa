/* polyc compile */
void product(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n])
{
    double w;
#pragma scop
    for (int i = -1; i < n - 1; i++)
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < n; k++)
                w += A[i + 1][k] * B[k][j];
            C[i + 1][j] = w;
            D[0][0] = w;
        }
#pragma endscop
}
