/* Elimination along the rows, and back. */
void tridiagonal(int n, int m, double d, double p[n][m], double q[n][m], double u[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        p[i][0] = 0.0;
        q[i][0] = u[i][0];
        for (int j = 1; j < m - 1; j++) {
            p[i][j] = -d / (d * p[i][j - 1] + 3.0);
            q[i][j] = (u[i][j] - d * q[i][j - 1]) / (d * p[i][j - 1] + 3.0);
        }
        for (int j = m - 2; j >= 1; j--)
            u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
#pragma endscop
}
