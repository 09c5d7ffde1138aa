/* Statements that run in one iteration of a loop only: isl takes their iteration for a place in the text; compilers say of its
   value that comparisons with unsigned ones are always false. */
#include "driver.h"

static void first_and_last(int n, double *a, double *b)
{
#pragma scop
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            b[0] = a[0];
        a[0] = i + 5.0;
        if (i == 0)
            a[0] = 99.0;
    }
    for (int i = 0; i < n; i++) {
        if (i == 3)
            b[1] = a[1];
        a[1] = a[i + 1] * 0.5;
        if (i == 2)
            a[1] = -7.0;
        for (int j = 0; j < 3; j++) {
            if (j == 2)
                b[i + 2] = a[2];
            a[2] = i + j;
            if (j == 1)
                a[2] = 0.25 * i;
        }
    }
#pragma endscop
}

static void compared(unsigned n, size_t k, const double *a, double *b)
{
#pragma scop
    for (size_t i = 0; i < 1; i++)
        b[i] = i > k ? 0.3 : a[0];
    for (unsigned i = 2; i < 3; i++)
        for (unsigned j = 0; j < n; j++)
            b[1] = a[i < n ? i : n - 1] + j;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 3, 4, 50) {
        double *a = new_double(n + 3), *b = new_double(n + 3);
        first_and_last(n, a, b);
        dump_double("a", a, n + 3);
        dump_double("b", b, n + 3);
        compared(n, n, a, b);
        dump_double("b", b, n + 3);
        free(a), free(b);
    }
    return 0;
}
