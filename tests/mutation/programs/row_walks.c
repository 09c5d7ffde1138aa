/* Rows that threads walk along: a sum, a recurrence in place, and there and back. */
void rows(int n, int m, double a[n][m], double x[m], double y[n][m], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t = 1;
        for (int j = 0; j < m; j++)
            t = t * 0.5 + a[i][j] * x[j];
        s[i] = t;
        for (int j = 1; j < m; j++)
            y[i][j] += y[i][j - 1] * t;
        for (int j = m - 2; j >= 0; j--)
            y[i][j] -= y[i][j + 1] * a[i][j];
    }
#pragma endscop
}
