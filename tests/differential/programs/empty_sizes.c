/* No iterations, one iteration, bounds that cross: nothing may be touched. */
#include "driver.h"

static void edges(int lo, int hi, int n, double *a, double *b)
{
#pragma scop
    for (int i = lo; i < hi; i++)
        a[i] = i;
    for (int i = lo + 1; i <= hi - 2; i++)
        b[i] = a[i - 1] + a[i + 1];
    if (n > 3)
        b[0] = n;
    if (lo == hi)
        b[1] = -1.0;
#pragma endscop
}

/* Nothing reads `own` but loops that never run. */
static void dead_reader(int n, double a[n + 1])
{
    static double own[1];
#pragma scop
    for (int i = 0; i < n; i++)
        own[0] = 0.5 * i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 0; j++)
            a[i] = own[0];
#pragma endscop
}

int main(void)
{
    double *a = new_double(200), *b = new_double(200);
    FOR_SIZES(lo, 0, 3, 10, 150)
        FOR_SIZES(hi, 0, 4, 10, 200) {
            edges(lo, hi, lo, a, b);
            dump_double("a", a, 200);
            dump_double("b", b, 200);
        }
    dead_reader(100, a);
    dump_double("a", a, 100);
    free(a), free(b);
    return 0;
}
