/* polyc compile */
void product(int n, double A[n][n], double B[n][n], double C[n][n], double d[n])
{
    double w;
#pragma scop
    for (int i = 0; i < n; i++) {
        d[i] = 0.0;
        for (int j = 0; j < n; j++) {
            w = 0.0;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            C[i][j] = w;
            if (B[i][j] > 0)
                C[j][i] = 1.0;
        }
    }
#pragma endscop
}
