/* Exchanges through a scalar: rows reversed in place, then a transposition in place. */
#include "driver.h"

static void swap(int n, int a[n][n])
{
    int t;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n / 2; j++) {
            t = a[i][j];
            a[i][j] = a[i][n - 1 - j];
            a[i][n - 1 - j] = t;
        }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            t = a[i][j];
            a[i][j] = a[j][i];
            a[j][i] = t;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 34, 80) {
        int *a = new_int(n * n);
        swap(n, (void *)a);
        dump_int("a", a, n * n);
        free(a);
    }
    return 0;
}
