/* Strides of two, three and five, with bounds that do not divide. */
#include "driver.h"

static void jump(int n, int *a, int *b)
{
#pragma scop
    for (int i = 1; i < n; i += 3)
        a[i] = a[i] + i;
    for (int i = 0; i <= n - 5; i = i + 5)
        for (int j = i; j < i + 5; j += 2)
            b[j] = a[j] * 2;
    for (int i = n - 1; i >= 1; i -= 3)
        b[i] += a[i - 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 5, 6, 100, 513) {
        int *a = new_int(n), *b = new_int(n);
        jump(n, a, b);
        dump_int("a", a, n);
        dump_int("b", b, n);
        free(a), free(b);
    }
    return 0;
}
