void f(int n, int m, double A[n][m], double B[n][m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        double t = 0.0;
        for (int i = 0; i < n; i++) {
            A[i][j] = B[i][j] + 0.5 * t;
            t = A[i][j];
        }
    }
#pragma endscop
}
