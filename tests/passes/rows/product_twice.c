/* y = A'(A x): the second sum of a row needs the first one, and reads the same row. */
void f(int n, int m, double A[m][n], double x[n], double y[n], double t[m])
{
#pragma scop
    for (int j = 0; j < n; j++)
        y[j] = 0.0;
    for (int i = 0; i < m; i++) {
        t[i] = 0.0;
        for (int j = 0; j < n; j++)
            t[i] = t[i] + A[i][j] * x[j];
        for (int j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * t[i];
    }
#pragma endscop
}
