/* A convolution with a ReLU after it; A is made inside the tiles that read it, with a halo. */
void conv_relu(int n, int m, double X[n + 2][m + 2], double K[3][3], double C[n][m])
{
    double A[n + 2][m + 2];
#pragma scop
    for (int i = 0; i < n + 2; i++)
        for (int j = 0; j < m + 2; j++)
            A[i][j] = 2.0 * X[i][j] + 1.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] = 0.0;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    C[i][j] += A[i + k][j + l] * K[k][l];
            C[i][j] = C[i][j] > 60.0 ? C[i][j] : 0.5 * C[i][j];
        }
#pragma endscop
}
