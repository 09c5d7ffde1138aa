/* Loops that end with !=, post-increments, compound assignments of all kinds, and a loop in braces of its own. */
#include "driver.h"

static void odds(int n, unsigned a[n], int b[n])
{
#pragma scop
    for (int i = 0; i != 32; i++)
        if (i < n)
            a[i] ^= 0x5au;
    for (int i = 0; i < n; i++) {
        a[i] <<= 1;
        a[i] |= 1u;
        a[i] >>= 2;
        a[i] &= ~4u;
        b[i]++;
        --b[i];
        b[i] -= 3;
        b[i] *= 2;
        b[i] %= 17;
        { ; }
    }
    {
        for (int i = 0; i < n; ++i) {
            ;
        }
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 300) {
        unsigned *a = new_unsigned(n);
        int *b = new_int(n);
        odds(n, a, b);
        dump_unsigned("a", a, n);
        dump_int("b", b, n);
        free(a), free(b);
    }
    return 0;
}
