/* Unsigned loop variables and values that wrap round. */
#include "driver.h"

static void mix(unsigned n, unsigned a[n], unsigned b[n])
{
#pragma scop
    for (unsigned i = 0; i < n; i++)
        a[i] = a[i] * 2654435761u + i;
    for (unsigned i = 1; i < n; i++)
        b[i] = (a[i] - a[i - 1]) / 3u + (0u - i) % 7u;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 100, 999) {
        unsigned *a = new_unsigned(n), *b = new_unsigned(n);
        mix(n, a, b);
        dump_unsigned("a", a, n);
        dump_unsigned("b", b, n);
        free(a), free(b);
    }
    return 0;
}
