/* A scalar that may have an array of its own, of which each tile keeps a part: the second sum of symm. */
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
    double w;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 0.5;
            for (int k = 0; k < i; k++) {
                C[k][j] += 1.5 * B[i][j] * A[i][k];
                w += B[k][j] * A[i][k];
            }
            C[i][j] = 0.25 * C[i][j] + B[i][j] * A[i][i] + w;
        }
#pragma endscop
}
