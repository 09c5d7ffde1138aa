/* One pass over A for sums by rows and by columns, of which the second ones need the first. */
void streams(int n, int m, double A[n][m], double x[m], double y[m], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[i] += A[i][j] * x[j];
        for (int j = 0; j < m; j++)
            y[j] += A[i][j] * t[i];
    }
#pragma endscop
}
