void triangle_sums(int n, int m, double A[n][n], double x[n], double y[n], double z[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int j = 0; j <= i; j++)
            s += A[i][j] * x[j];
        y[i] = s;
        double t = x[0];
        for (int j = i; j < n; j++)
            t -= A[i][j] * x[j];
        z[i] = t;
    }
#pragma endscop
}
