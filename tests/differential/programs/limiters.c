/* fmax and fmin of numbers, zeros with either sign, and what is no number. */
#include "driver.h"
#include <math.h>

static void limited(int n, double a[n], double b[n], double out[n], float c[n], float d[n], float small[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        out[i] = fmax(0.0, a[i]) * fmin(fmax(a[i], b[i]), 0.75) + fmin(b[i], a[i]);
    for (int i = 0; i < n; i++)
        small[i] = fmaxf(c[i], d[i]) - fminf(0.0f, c[i]);
#pragma endscop
}

static void either(int n, double a[n], double b[n], double most[n], double least[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        most[i] = fmax(a[i], b[i]);
        least[i] = fmin(a[i], b[i]);
    }
#pragma endscop
}

int main(void)
{
    const double odd[] = {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 5e-324, 1.5};
    FOR_SIZES(n, 1, 64, 1000) {
        double *a = new_double(n), *b = new_double(n), *out = new_double(n), *most = new_double(n);
        float *c = new_float(n), *d = new_float(n), *e = new_float(n);
        limited(n, a, b, out, c, d, e);
        dump_double("out", out, n);
        dump_float("small", e, n);
        for (int k = 0; k < n; k++)
            a[k] = odd[k % 8], b[k] = odd[k / 8 % 8];
        either(n, a, b, most, out);
        dump_double("most", most, n);
        dump_double("least", out, n);
        free(a), free(b), free(out), free(most), free(c), free(d), free(e);
    }
    return 0;
}
