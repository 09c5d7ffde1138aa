/* Neither along i nor along k are there neighbours in memory. */
void strided_window(int n, int m, int s, double x[n + m][s], double h[m], double y[n][s])
{
#pragma scop
    if (s >= 1)
        for (int i = 0; i < n; i++) {
            y[i][0] = 0.0;
            for (int k = 0; k < m; k++)
                y[i][0] += h[k] * x[i + k][0];
        }
#pragma endscop
}
