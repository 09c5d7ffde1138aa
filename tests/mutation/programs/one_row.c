/* Sums that all threads of a block make in one row, read by the same threads as a square. */
void one_row(int n, double a[n][n], double out[n][n])
{
    double s[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0.0;
        for (int k = 0; k < n; k++)
            s[i] = s[i] * 0.5 + a[i][k];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = s[i] + a[i][j];
#pragma endscop
}
