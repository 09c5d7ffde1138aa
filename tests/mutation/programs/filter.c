/* A recurrence down each column: its scalars have a place for each column of a strip. */
void filter(int n, int m, double A[n][m], double B[n][m])
{
    double s, t;
#pragma scop
    for (int j = 0; j < m; j++) {
        s = 0.0;
        t = 1.0;
        for (int i = 0; i < n; i++) {
            A[i][j] = B[i][j] + 0.5 * s - 0.25 * t;
            t = s;
            s = A[i][j];
        }
    }
#pragma endscop
}
