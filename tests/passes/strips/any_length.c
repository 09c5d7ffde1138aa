void f(int n, int m, double A[m][n][n], double B[m][n][n])
{
#pragma scop
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double e[m + 1];
            e[m] = 0;
            for (int k = m - 1; k >= 0; k--)
                e[k] = 1.0 / (2.0 + B[k][j][i] - B[k][j][i] * e[k + 1]);
            A[0][j][i] = e[0];
            for (int k = 1; k < m; k++)
                A[k][j][i] = e[k] * A[k - 1][j][i] + B[k][j][i];
        }
#pragma endscop
}
