/* Scalars that may live in the element that they are stored to: a triangle of a product, and one that is scaled. */
void f(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n])
{
    double w, v;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            w = A[i][j];
            for (int k = 0; k < n; k++)
                w -= B[i][k] * C[j][k];
            A[i][j] = w;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v = D[i][j] * 2.0;
            for (int k = 0; k < n; k++)
                v += B[i][k] * C[k][j];
            v = v * 0.5;
            D[i][j] = v + 1.0;
        }
#pragma endscop
}
