/* polyc compile */
void product(int n, double A[n][n], double B[n][n], double C[n][n], double d[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        d[i] = 0.0;
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = C[n - 1 - i][j] + sum;
        }
    }
#pragma endscop
}
