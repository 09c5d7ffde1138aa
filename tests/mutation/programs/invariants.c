#include <math.h>
/* What some loops do not change: a sum over a row, another one of it, a function of a loop, and what only looks so. */
void invariants(int n, double a[n][n], double b[n][n], double c[n][n], double w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0, t = 0, q = 0, u = 0;
            for (int k = 0; k < n; k++) {
                s += a[i][k] * b[j][k];
                t += a[i][k];
            }
            t /= n;
            for (int k = 0; k < n; k++)
                q += (b[j][k] - t) * (b[j][k] - t);
            for (int k = 0; k <= j; k++)
                u += a[i][k];
            c[i][j] = s * exp(w[j]) + t * q + u;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double v = 0;
            for (int k = 0; k < n; k++)
                v += w[k];
            a[i][j] = v * cos(0.5 * i);
            w[j] = v * 0.5;
        }
#pragma endscop
}
