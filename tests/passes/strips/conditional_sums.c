/* What is added under a condition, and what otherwise, and how many there are. */
void conditional_sums(int n, int m, double A[n][m], double x[m], double y[n], double z[n], int k[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = -0.0, t = 1.0;
        int above = 0;
        for (int j = 0; j < m; j++) {
            if (A[i][j] > x[j]) {
                s += A[i][j] - x[j];
                above++;
            } else
                t *= 1.0 + A[i][j] * 0.015625;
        }
        y[i] = s;
        z[i] = t;
        k[i] = above;
    }
#pragma endscop
}
