/* The attention pattern: an elementwise producer that two matrix products read, and a softmax without maximum. */
#include "driver.h"
#include <math.h>

static void attention(int n, int d, double x[n][d], double wq[d][d], double wk[d][d], double q[n][d], double k[n][d],
                      double out[n][n])
{
    double e[n][d], s[n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++)
            e[i][j] = x[i][j] / (1.0 + fabs(x[i][j]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) {
            q[i][j] = 0;
            for (int l = 0; l < d; l++)
                q[i][j] += e[i][l] * wq[l][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++) {
            k[i][j] = 0;
            for (int l = 0; l < d; l++)
                k[i][j] += e[i][l] * wk[l][j];
        }
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < n; j++) {
            out[i][j] = 0;
            for (int l = 0; l < d; l++)
                out[i][j] += q[i][l] * k[j][l];
            out[i][j] = exp(out[i][j] * 0.01);
            s[i] += out[i][j];
        }
        for (int j = 0; j < n; j++)
            out[i][j] /= s[i];
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 20, 40) {
        int d = n == 2 ? 37 : 8;
        double *x = new_double(n * d), *wq = new_double(d * d), *wk = new_double(d * d);
        double *q = new_double(n * d), *k = new_double(n * d), *out = new_double(n * n);
        attention(n, d, (void *)x, (void *)wq, (void *)wk, (void *)q, (void *)k, (void *)out);
        dump_double("q", q, n * d);
        dump_double("k", k, n * d);
        dump_double("out", out, n * n);
        free(x), free(wq), free(wk), free(q), free(k), free(out);
    }
    return 0;
}
