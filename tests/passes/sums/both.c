/* A nest of both, with a start and an end: they share the loop i, and each has its own form. */
void f(int n, int m, double A[n][m], double B[m][n], double x[m], double s[n], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0.0;
        t[i] = 1.0;
        for (int j = 0; j < m; j++)
            s[i] += A[i][j] * x[j];
        for (int j = 0; j < m; j++)
            t[i] -= B[j][i] * x[j];
        t[i] = t[i] + s[i];
    }
#pragma endscop
}
