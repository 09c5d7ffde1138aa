/* Polynomial products: reads of a[i + j] and c[i - j], writes of c[i + j]. */
#include "driver.h"

static void poly(int n, long long a[n], long long b[n], long long c[2 * n])
{
    long long s[2 * n];
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        c[i] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i + j] += a[i] * b[j] % 1000;
    for (int i = 0; i < 2 * n; i++)
        s[i] = c[i] - i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i] += s[i - j] + s[i + j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 90) {
        long long *a = new_long(n), *b = new_long(n), *c = new_long(2 * n);
        for (int i = 0; i < n; i++)
            a[i] %= 1000, b[i] %= 1000;
        poly(n, a, b, c);
        dump_long("a", a, n);
        dump_long("c", c, 2 * n);
        free(a), free(b), free(c);
    }
    return 0;
}
