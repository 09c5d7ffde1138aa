/* Cells that strided loops write again and again: the last write counts, which isl does not always find by itself. */
#include "driver.h"

static void last_of_many(int n, int m, double a[n + 1], double c[m + 2], double b[m + 1])
{
#pragma scop
    for (int i = 0; i < m; i += 2)
        for (int j = 0; j < n; j += 2)
            for (int k = j / 2; k < m + j && k < 40; k += 3)
                c[i] = a[j] + k;
    for (int x = 0; x < m - 4; x++)
        b[x] = c[x + 3];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 7, 75, 90)
        FOR_SIZES(m, 0, 5, 12, 75) {
            double *a = new_double(n + 1), *c = new_double(m + 2), *b = new_double(m + 1);
            last_of_many(n, m, a, c, b);
            dump_double("c", c, m + 2);
            dump_double("b", b, m + 1);
            free(a), free(c), free(b);
        }
    return 0;
}
