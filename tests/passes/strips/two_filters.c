/* Down along the columns, up again, and along the rows: the same scalars, which belong to columns and to rows. */
void f(int n, int m, float A[n][m], float B[n][m], float C[n][m])
{
    float s, t;
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0.0f;
        for (int j = 0; j < m; j++) {
            C[i][j] = B[i][j] + s;
            s = 0.5f * C[i][j];
        }
    }
    for (int j = 0; j < m; j++) {
        s = 0.0f;
        for (int i = 0; i < n; i++) {
            A[i][j] = C[i][j] + s;
            s = 0.5f * A[i][j];
        }
    }
    for (int j = 0; j < m; j++) {
        s = 0.0f;
        t = 0.0f;
        for (int i = n - 1; i >= 0; i--) {
            B[i][j] = A[i][j] - s + t;
            t = s;
            s = B[i][j];
        }
    }
#pragma endscop
}
