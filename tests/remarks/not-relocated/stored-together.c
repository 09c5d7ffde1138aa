/* polyc compile */
void product(int n, double A[n][n], double B[n][n], double C[n][n])
{
    double w;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++) {
                w = l;
                for (int k = 0; k < n; k++)
                    w += A[i][k] * B[k][j];
                C[i][j] = w;
            }
#pragma endscop
}
