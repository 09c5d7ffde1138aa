/* A sum of products with steps around it: registers and panels, and tiles whose border lies outside. */
void product(int n, float beta, float A[n][n], float B[n][48], float C[n][48], float out[n][48])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 48; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
            out[i][j] = C[i][j] + 1.0f;
        }
#pragma endscop
}
