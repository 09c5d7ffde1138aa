/* Loops that a `break` ends, of which the sizes say where. */
#include "driver.h"

static void filtered(int n, int taps, const double *restrict h, const double *restrict x, double *restrict y)
{
#pragma scop
    for (int o = 0; o < n; o++) {
        double s = 0;
        for (int k = 0; k < taps; k++) {
            int j = o - k;
            if (j < 0)
                break;
            s += h[k] * x[j];
        }
        y[o] = s;
    }
#pragma endscop
}

static void counted(int n, int m, int at, int a[n][m], int b[n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        for (int j = m - 1; j >= 0; j -= 2) {
            b[i] += a[i][j];
            if (j < at) {
                b[i] *= 2;
                break;
            }
            a[i][j] += i;
            if (j < 2)
                continue;
            a[i][j] -= j;
        }
        if (i == at)
            break;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 5, 40) {
        int m = n + 4;
        double *x = new_double(n), *y = new_double(n), *h = new_double(16);
        for (int taps = 0; taps < 17; taps += 4) {
            filtered(n, taps, h, x, y);
            dump_double("y", y, n);
        }
        free(x), free(y), free(h);
        for (int at = -1; at < 6; at++) {
            int *a = new_int(n * m), *b = new_int(n);
            counted(n, m, at, (void *)a, b);
            dump_int("a", a, n * m), dump_int("b", b, n);
            free(a), free(b);
        }
    }
    return 0;
}
