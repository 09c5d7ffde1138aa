/* Sums of pairs below a cutoff: conditional updates of several scalars in the inner loop. */
#include "driver.h"

static void forces(int n, double c2, double x[n], double y[n], double fx[n], double fy[n], double pe[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double sx = 0, sy = 0, e = -0.0;
        for (int j = 0; j < n; j++) {
            if (j == i)
                continue;
            double dx = x[i] - x[j], dy = y[i] - y[j];
            double r2 = dx * dx + dy * dy;
            if (r2 < c2) {
                double q = 1 - r2 / c2;
                double s = q / r2;
                sx += s * dx;
                sy -= s * dy;
                e = q;
            }
        }
        fx[i] = sx;
        fy[i] = sy;
        pe[i] = e;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 63, 65, 150) {
        double *x = new_double(n), *y = new_double(n), *fx = new_double(n), *fy = new_double(n), *e = new_double(n);
        forces(n, 0.3, x, y, fx, fy, e);
        dump_double("fx", fx, n);
        dump_double("fy", fy, n);
        dump_double("e", e, n);
        free(x), free(y), free(fx), free(fy), free(e);
    }
    return 0;
}
