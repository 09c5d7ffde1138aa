/* Scalars that must not live in the element that they are stored to. */
void f(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], float E[n][n], double F[n][n])
{
    double w, v, u, t;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            w = 1.0;
            for (int k = 0; k < n; k++)
                w += A[i][k] * B[k][j];
            C[i][j] = 0.5 * C[i][j] + w;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v = 1.0;
            for (int k = 0; k < n; k++)
                v += A[i][k] * C[k][j];
            E[i][j] = v;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            u = F[j][i];
            for (int k = 0; k < n; k++)
                u += A[i][k] * B[k][j];
            D[i][j] = u;
            F[i][j] = u + 1.0;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            t = 1.0;
            for (int k = 0; k < n; k++)
                t += A[i][k] * A[j][k];
            if (j < i)
                B[i][j] = t;
        }
#pragma endscop
}
