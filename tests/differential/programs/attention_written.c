/* Attention as it is written: scores that are scaled when they are stored, their maximum, and sums of what they
   become, all in one loop over the rows. Each sum of products lives in its element, though later steps use that. */
#include "driver.h"
#include <math.h>

static void attention(int n, int d, float q[n][d], float k[n][d], float v[n][d], float s[n][n], float out[n][d])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float most = -1e30f, sum = 0;
        for (int j = 0; j < n; j++) {
            float product = 0;
            for (int l = 0; l < d; l++)
                product += q[i][l] * k[j][l];
            s[i][j] = product * 0.125f;
            most = fmaxf(most, s[i][j]);
        }
        for (int j = 0; j < n; j++) {
            s[i][j] = expf(s[i][j] - most);
            sum += s[i][j];
        }
        for (int l = 0; l < d; l++) {
            float value = 0;
            for (int j = 0; j < n; j++)
                value += s[i][j] * v[j][l];
            out[i][l] = value / sum;
        }
    }
#pragma endscop
}

/* What is stored is read before as well: the sum keeps its variable. */
static void kept(int n, double a[n][n], double b[n][n], double c[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < n; l++)
                sum += a[i][l] * b[l][j] * c[i][j];
            c[i][j] = sum;
            a[i][j] += c[i][j];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 17, 40) {
        int d = n == 2 ? 37 : 8;
        float *q = new_float(n * d), *k = new_float(n * d), *v = new_float(n * d);
        float *s = new_float(n * n), *out = new_float(n * d);
        double *a = new_double(n * n), *b = new_double(n * n), *c = new_double(n * n);
        attention(n, d, (void *)q, (void *)k, (void *)v, (void *)s, (void *)out);
        dump_float("s", s, n * n);
        dump_float("out", out, n * d);
        kept(n, (void *)a, (void *)b, (void *)c);
        dump_double("a", a, n * n);
        dump_double("c", c, n * n);
        free(q), free(k), free(v), free(s), free(out), free(a), free(b), free(c);
    }
    return 0;
}
