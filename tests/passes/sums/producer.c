/* The sums of one nest run in the tiles of the next one, as its own statements. */
void f(int n, int m, double A[n][m], double B[n][m], double x[m], double s[n], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            s[i] += A[i][j] * x[j];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            t[i] += B[i][j] * x[j];
        t[i] = 2.0 * s[i] + t[i];
    }
#pragma endscop
}
