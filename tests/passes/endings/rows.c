/* What each column that is on loads, and that no column moves, is loaded once for a strip. */
void rows(int n, int m, const int *mask, const double *w, const double *h, double x[m][n], double *out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        if (mask[i] > 3) {
            for (int k = 0; k < m; k++) {
                double a = w[k] * x[k][i];
                s = 0.5 * s + a / (1.0 + h[k] * h[k]);
                x[k][i] = s;
            }
        }
        for (int k = 0; k < m; k++) {
            double d = s - w[k];
            if (d * d > 100.0)
                break;
            s = s + 0.25 * d;
        }
        out[i] = s;
    }
#pragma endscop
}
