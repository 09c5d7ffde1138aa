void power(int n, int m, int steps, double A[n][m], double B[n][m], double x[m], double y[n], double z[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < m; j++)
                s += A[i][j] * x[j];
            y[i] = s;
        }
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < m; j++)
                s += B[i][j] * x[j];
            z[i] = s + y[i];
        }
        B[0][t % 3] = y[0];
        for (int i = 0; i < m; i++)
            x[i] = 0.01 * z[i % n];
    }
#pragma endscop
}
