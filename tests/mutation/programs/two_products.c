/* Two products in one sum: two panels of each array, one with a factor and one without. */
void two_products(int n, double alpha, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[k][j] * alpha * B[i][k] + B[k][j] * A[i][k];
#pragma endscop
}
