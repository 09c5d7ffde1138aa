/* Scalars that hand values from one iteration to the next, and others that do not. */
#include "driver.h"

static void chain(int n, int m, double a[n][m], double out[n][m])
{
    double x, y = 1.0, carry = 0.5;
#pragma scop
    for (int i = 0; i < n; i++) {
        carry = carry * 0.5;
        for (int j = 0; j < m; j++) {
            x = a[i][j] + carry * 0.0625;
            y = x * x;
            x = y - a[i][j];
            out[i][j] = x + y;
            carry = 0.5 * carry + 0.0625 * y;
        }
        out[i][0] = y;
    }
#pragma endscop
    printf("%.17g %.17g\n", y, carry);
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 5;
        double *a = new_double(n * m), *out = new_double(n * m);
        for (int i = 0; i < n * m; i++)
            a[i] = a[i] / 16;
        chain(n, m, (void *)a, (void *)out);
        dump_double("out", out, n * m);
        free(a), free(out);
    }
    return 0;
}
