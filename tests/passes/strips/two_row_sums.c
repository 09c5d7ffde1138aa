void two_row_sums(int n, int m, double A[n][m], double x[m], double y[n], double z[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 1.0, q = 0.0;
        for (int j = 0; j < m; j++) {
            s += A[i][j] * x[j];
            q += A[i][j];
        }
        y[i] = s;
        z[i] = q - s;
    }
#pragma endscop
}
