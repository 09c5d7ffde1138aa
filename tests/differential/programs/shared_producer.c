/* One producer, two consumers with different windows, and a third that takes both. */
#include "driver.h"

static void shared(int n, double a[n + 8], double u[n], double v[n], double z[n])
{
    double p[n + 8];
#pragma scop
    for (int i = 0; i < n + 8; i++)
        p[i] = a[i] * a[i] + 1.0;
    for (int i = 0; i < n; i++)
        u[i] = p[i] + p[i + 1] + p[i + 2];
    for (int i = 0; i < n; i++)
        v[i] = p[i + 4] - p[i + 8];
    for (int i = 0; i < n; i++)
        z[i] = u[i] * v[i];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 31, 200, 1000) {
        double *a = new_double(n + 8), *u = new_double(n), *v = new_double(n), *z = new_double(n);
        shared(n, a, u, v, z);
        dump_double("u", u, n);
        dump_double("v", v, n);
        dump_double("z", z, n);
        free(a), free(u), free(v), free(z);
    }
    return 0;
}
