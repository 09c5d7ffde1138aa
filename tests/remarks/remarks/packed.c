void power(int n, int steps, double A[n][n], double x[n], double y[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < n; j++)
                s += A[i][j] * x[j];
            y[i] = s;
        }
        for (int i = 0; i < n; i++)
            x[i] = y[i] / n;
    }
#pragma endscop
}
