/* Loops that go down, with the values of the loop variables used. */
#include "driver.h"

static void down(int n, int m, int a[n][m], int b[n][m])
{
    int i, j;
#pragma scop
    for (i = n - 1; i >= 0; i--)
        for (j = m; j > 0; --j)
            a[i][j - 1] = i * 100 + j;
    for (i = n - 2; i >= 0; i -= 2)
        for (j = m - 2; j >= 0; j--)
            b[i][j] = a[i][j] - a[i + 1][j + 1] * j;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 34, 65) {
        int m = n + 40;
        int *a = new_int(n * m), *b = new_int(n * m);
        down(n, m, (void *)a, (void *)b);
        dump_int("a", a, n * m);
        dump_int("b", b, n * m);
        free(a), free(b);
    }
    return 0;
}
