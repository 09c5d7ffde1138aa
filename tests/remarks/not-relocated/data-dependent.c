/* polyc compile */
void product(int n, double A[n][n], double B[n][n], double C[n][n], double d[n])
{
    double w;
#pragma scop
    for (int i = -1; i < n - 1; i++) {
        d[i + 1] = 0.0;
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < n; k++)
                w += A[i + 1][k] * B[k][j];
            C[i + 1][j] = w;
            if (B[i + 1][j] > 0)
                C[j][i + 1] = 1.0;
        }
    }
#pragma endscop
}
