void upwind(int n, int m, double u[n][m], double v[n][m], double f[n][m], float s[n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < m; j++) {
            double d;
            if (v[i][j] > 0)
                d = u[i][j] - u[i - 1][j];
            else
                d = u[i + 1][j] - u[i][j];
            f[i][j] = u[i][j] - 0.5 * v[i][j] * d;
        }
    for (int i = 0; i < n; i++)
        s[i] = s[i] > 0 ? s[i] : 0.1f * s[i];
#pragma endscop
}
