/* The scalar is read after the inner loop, and starts from the column. */
void f(int n, int m, double A[n][m], double out[m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        double t = A[0][j];
        for (int i = 1; i < n; i++)
            t = t * 0.5 + A[i][j];
        out[j] = t;
    }
#pragma endscop
}
