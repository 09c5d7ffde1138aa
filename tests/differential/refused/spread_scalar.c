/* A scalar of each outer iteration beside sums: the loop between is no vector loop of these. */
void f(int n, double A[n][n], double B[n][n], double D[n][n])
{
    double u;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            u = 1.0;
            if (j > i)
                u = D[i][j];
            for (int k = 0; k < n; k++)
                u += A[i][k] * B[k][j];
            D[i][j] = -u;
        }
#pragma endscop
}
