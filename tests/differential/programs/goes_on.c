/* Loops that go on where others ended, as where somebody unrolled by hand, and heads that begin two variables. */
#include "driver.h"

static void scale(int n, double g, double *restrict x, const double *restrict y)
{
    int i;
#pragma scop
    for (i = 0; i < n - 3; i += 4) {
        x[i] = x[i] * g + y[i];
        x[i + 1] = x[i + 1] * g + y[i + 1];
        x[i + 2] = x[i + 2] * g + y[i + 2];
        x[i + 3] = x[i + 3] * g + y[i + 3];
    }
    for (; i < n; i++)
        x[i] = x[i] * g + y[i];
#pragma endscop
}

static void correlate(int n, int lags, double *restrict c, const double *restrict y)
{
    int i, k;
    double d;
#pragma scop
    for (k = 0; k < lags; k++) {
        for (i = k, d = 0; i < n; i++)
            d += y[i] * y[i - k];
        c[k] += d;
    }
#pragma endscop
}

static int count(int n, const int *restrict v)
{
    int i, s = 0;
#pragma scop
    for (i = 0; i + 1 < n; i += 2)
        s += v[i] * v[i + 1];
    for (; i < n; i++)
        s += v[i];
#pragma endscop
    return s + i;
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 3, 4, 7, 150, 151) {
        double *x = new_double(n), *y = new_double(n), *c = new_double(9);
        int *v = new_int(n);
        scale(n, 0.75, x, y);
        dump_double("x", x, n);
        correlate(n, n < 9 ? n : 9, c, y);
        dump_double("c", c, 9);
        printf("%d\n", count(n, v));
        free(x), free(y), free(c), free(v);
    }
    return 0;
}
