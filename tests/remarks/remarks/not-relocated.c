/* polyc compile */
void product(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += A[i][k] * B[k][j];
            C[i][j] = C[n - 1 - i][j] + sum;
        }
#pragma endscop
}
