/* Each sum leaves out its own row. */
void other_rows(int n, int m, double A[n][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = x[i];
        for (int j = 0; j < n; j++)
            if (j != i)
                s -= A[i][j] * x[j];
        y[i] = s / A[i][i];
    }
#pragma endscop
}
