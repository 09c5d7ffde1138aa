/* Sums along rows but for their own: those of a strip at once, each with a scalar of its own, and the last rows by
   themselves. */
void row_sums(int n, int m, double A[n][n], double x[n], double y[n])
{
    double s;
#pragma scop
    for (int i = 0; i < n; i++) {
        s = 0.0;
        for (int j = 0; j < n; j++)
            if (j != i)
                s += A[i][j] * x[j];
        y[i] = s + x[0];
    }
#pragma endscop
}
