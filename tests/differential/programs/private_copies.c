/* Arrays whose values are of no use afterwards: where a copy for each iteration is right, and where it is not. */
#include "driver.h"

/* `b` is computed in the tiles of `d`, and the last loop reads it too. */
static void later_reader(double a[22], double e[16], double f[16])
{
    double b[18], c[17], d[16];
#pragma scop
    for (int i = 0; i < 18; i++)
        b[i] = 0.3 * a[i + 1] + a[i + 4] + a[i];
    for (int i = 0; i < 17; i++)
        c[i] = b[i + 1] + 0.25 * b[i];
    for (int i = 0; i < 16; i++)
        d[i] = c[i] + 2.1 * c[i + 1];
    for (int i = 2; i < 16; i++)
        e[i] = d[i] * -0.6;
    for (int i = 2; i < 16; i++)
        f[i] = 0.3 * (b[i] + b[i]);
#pragma endscop
}

/* Only where n < 40 does `b` hold what is written to it; nothing else bounds n. */
static void as_far_as_it_reaches(int n, double c[39][43], int limit[39], double total[1])
{
    double b[41];
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < 3; w++) {
            b[i + 2] = c[i][w + i] - c[i][w + 3];
            if (w > limit[i])
                break;
        }
        total[0] += b[i + 2];
    }
#pragma endscop
}

int main(void)
{
    double *a = new_double(22), *e = new_double(16), *f = new_double(16), *total = new_double(1);
    double(*c)[43] = (double(*)[43])new_double(39 * 43);
    int limit[39];
    later_reader(a, e, f);
    dump_double("e", e, 16);
    dump_double("f", f, 16);
    for (int i = 0; i < 39; i++)
        limit[i] = i % 4 - 1;
    FOR_SIZES(n, 0, 1, 2, 38, 39) {
        as_far_as_it_reaches(n, c, limit, total);
        dump_double("total", total, 1);
    }
    free(a), free(e), free(f), free(c), free(total);
    return 0;
}
