/* Calls: of the math library, and of a function of the user's that is declared pure. */
#include "driver.h"
#include <math.h>

#pragma polyc pure(mix, clamp)
static double mix(double x, double y, int k)
{
    return k % 2 ? x : y;
}

static inline int clamp(int x, int hi)
{
    return x < 0 ? 0 : x > hi ? hi : x;
}

static void calls(int n, double a[n], double b[n], double out[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = sqrt(fabs(a[i])) + floor(a[i]);
    for (int i = 0; i < n; i++)
        out[i] = mix(b[i], fmax(a[i], b[n - 1 - i]), i) + b[clamp(i - 3, n - 1)];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 500) {
        double *a = new_double(n), *b = new_double(n), *out = new_double(n);
        calls(n, a, b, out);
        dump_double("b", b, n);
        dump_double("out", out, n);
        free(a), free(b), free(out);
    }
    return 0;
}
