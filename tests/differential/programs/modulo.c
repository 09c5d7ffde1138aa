/* Conditions and subscripts with % and /, also of negative numbers, where C rounds towards zero. */
#include "driver.h"

static void parts(int n, int a[n], int b[7], int c[2 * n + 1])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (i % 3 == 1)
            a[i] = i;
        else if (i % 4 != 2)
            a[i] = -i;
        else
            a[i] += 1;
    }
    for (int i = 0; i < n; i++)
        b[i % 7] += a[i];
    for (int i = -n; i <= n; i++)
        c[i + n] = a[(i < 0 ? -i : i) / 2] + i / 3 + i % 3;
    for (int i = -n; i <= n; i++)
        if (i / 4 >= 1 || i % 5 == -2)
            c[i + n] *= 2;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 30, 301) {
        int *a = new_int(n), *b = new_int(7), *c = new_int(2 * n + 1);
        parts(n, a, b, c);
        dump_int("a", a, n);
        dump_int("b", b, 7);
        dump_int("c", c, 2 * n + 1);
        free(a), free(b), free(c);
    }
    return 0;
}
