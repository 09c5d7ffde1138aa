/* Loop variables keep their last values, also those of loops that do not run. */
#include "driver.h"

static int last(int n, int m, int *a)
{
    int i = -5, j = -6, k = -7;
#pragma scop
    for (i = 0; i < n; i++) {
        a[i] = i;
        for (j = i; j < m; j += 2)
            a[i] += j;
    }
    for (k = n; k > 0; k -= 3)
        a[k - 1] *= 2;
#pragma endscop
    return i * 10000 + j * 100 + k;
}

/* The bounds are the same text, or numbers that are. */
static int never(int n, int *a)
{
    int i, j = -6;
#pragma scop
    for (i = n; i < n; i++)
        a[0] = 7;
    for (j = 2; j < 2; j++)
        a[0] = 8;
#pragma endscop
    return i * 100 + j;
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 50)
        FOR_SIZES(m, 0, 1, 7, 60) {
            int *a = new_int(n);
            printf("last %d\n", last(n, m, a));
            printf("never %d\n", never(n, a));
            dump_int("a", a, n);
            free(a);
        }
    return 0;
}
