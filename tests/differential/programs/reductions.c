/* Sums, a product, a minimum and an index of it, into scalars that are read after the region. */
#include "driver.h"

static void reduce(int n, double *a)
{
    double sum = 0.0, product = 1.0, least = 1e30;
    int where = -1;
#pragma scop
    for (int i = 0; i < n; i++)
        sum += a[i];
    for (int i = 0; i < n; i++)
        product *= 1.0 + a[i] / (n + 1.0);
    for (int i = 0; i < n; i++)
        if (a[i] < least) {
            least = a[i];
            where = i;
        }
    for (int i = 0; i < n; i++)
        a[i] -= sum / n;
#pragma endscop
    printf("%.17g %.17g %.17g %d\n", sum, product, least, where);
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 50, 700) {
        double *a = new_double(n);
        reduce(n, a);
        dump_double("a", a, n);
        free(a);
    }
    return 0;
}
