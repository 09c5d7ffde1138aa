/* Bounds with min and max as ternaries: a banded product. */
#include "driver.h"
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static void band(int n, int w, double a[n][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = MAX(0, i - w); j < MIN(n, i + w + 1); j++)
            y[i] += a[i][j] * x[j];
    }
    for (int i = 0; i < (n < 10 ? n : 10); i++)
        x[i] = y[i];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 5, 40, 100)
        FOR_SIZES(w, 0, 1, 4, 200) {
            double *a = new_double(n * n), *x = new_double(n), *y = new_double(n);
            band(n, w, (void *)a, x, y);
            dump_double("x", x, n);
            dump_double("y", y, n);
            free(a), free(x), free(y);
        }
    return 0;
}
