/* Three updates in place of one array, then a stencil over it. */
#include "driver.h"

static void chain(int n, int m, double a[n][m], double out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] += 1.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= a[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = 1.0 / (1.0 + a[i][j]);
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m - 1; j++)
            out[i][j] = a[i][j] + a[i + 1][j + 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 33, 70) {
        int m = n + 70;
        double *a = new_double(n * m), *out = new_double(n * m);
        chain(n, m, (void *)a, (void *)out);
        dump_double("a", a, n * m);
        dump_double("out", out, n * m);
        free(a), free(out);
    }
    return 0;
}
