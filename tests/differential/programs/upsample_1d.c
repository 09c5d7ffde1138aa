/* Linear interpolation with odd and even positions, as conditions modulo 2. */
#include "driver.h"

static void interpolate(int n, int x[n], int y[2 * n])
{
    int t[n];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = x[i] * 3 + i;
    for (int i = 0; i < 2 * n - 1; i++)
        if (i % 2 == 0)
            y[i] = t[i / 2];
        else
            y[i] = (t[i / 2] + t[(i + 1) / 2]) / 2;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 64, 333) {
        int *x = new_int(n), *y = new_int(2 * n);
        interpolate(n, x, y);
        dump_int("y", y, 2 * n);
        free(x), free(y);
    }
    return 0;
}
