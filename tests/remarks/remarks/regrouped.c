/* polyc compile */
void fluxes(int n, int m, double f[restrict n][m], double r[restrict n][m], double u[restrict n][m], double s)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++)
            f[i][k] = u[i][k] * u[i][k];
        for (int k = 1; k < m - 1; k++)
            r[i][k] -= s * (f[i][k + 1] - f[i][k - 1]);
        for (int k = 1; k < m; k++)
            f[i][k] = u[i][k] - u[i][k - 1];
        for (int k = 1; k < m - 1; k++)
            r[i][k] += s * (f[i][k + 1] - f[i][k]);
    }
#pragma endscop
}
