/* Two sums, of which one is stored as it is, and both make a third value: two temporaries for one place. */
#include "driver.h"

static void moments(int n, int k, int d, double x[n][d], double mu[k][d], double var[k][d], double resp[n][k])
{
#pragma scop
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) {
            double m = 0, v = 0;
            for (int i = 0; i < n; i++) {
                m += resp[i][c] * x[i][j];
                v += resp[i][c] * x[i][j] * x[i][j];
            }
            mu[c][j] = m;
            var[c][j] = v - m * m;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 50) {
        int k = n / 2 + 1, d = n + 34;
        double *x = new_double(n * d), *mu = new_double(k * d), *var = new_double(k * d), *resp = new_double(n * k);
        moments(n, k, d, (void *)x, (void *)mu, (void *)var, (void *)resp);
        dump_double("mu", mu, k * d);
        dump_double("var", var, k * d);
        free(x), free(mu), free(var), free(resp);
    }
    return 0;
}
