/* Tiles of two nests compute the same producer: the first nest's, and those of what the second one needs of the first. */
#include "driver.h"

static void chain(int n, double in[n + 1], double b[n], double c[28])
{
    double a[n + 1];
#pragma scop
    for (int i = 0; i < n + 1; i++)
        a[i] = 0.5 * in[i];
    for (int i = 0; i < n; i++)
        b[i] = a[i + 1] - 1.0;
    for (int i = 0; i < 28; i++)
        c[i] = 0.25 * b[i + 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 29, 30, 64, 200) {
        double *in = new_double(n + 1), *b = new_double(n), *c = new_double(28);
        chain(n, in, b, c);
        dump_double("b", b, n);
        dump_double("c", c, 28);
        free(in), free(b), free(c);
    }
    return 0;
}
