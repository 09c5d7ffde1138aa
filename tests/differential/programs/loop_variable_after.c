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

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 50)
        FOR_SIZES(m, 0, 1, 7, 60) {
            int *a = new_int(n);
            printf("last %d\n", last(n, m, a));
            dump_int("a", a, n);
            free(a);
        }
    return 0;
}
