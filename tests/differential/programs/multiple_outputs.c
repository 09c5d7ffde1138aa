/* Two outputs of different shape from one producer, and a third that does not share. */
#include "driver.h"

static void outputs(int n, int m, double a[n][m], double x[n][m], double y[m][n], double z[n])
{
    double p[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i][j] = a[i][j] * 3.0 + 1.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m - 1; j++)
            x[i][j] = p[i][j] - p[i][j + 1];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n - 1; i++)
            y[j][i] = p[i][j] * p[i + 1][j];
    for (int i = 0; i < n; i++)
        z[i] = a[i][0];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 20;
        double *a = new_double(n * m), *x = new_double(n * m), *y = new_double(n * m), *z = new_double(n);
        outputs(n, m, (void *)a, (void *)x, (void *)y, z);
        dump_double("x", x, n * m);
        dump_double("y", y, n * m);
        dump_double("z", z, n);
        free(a), free(x), free(y), free(z);
    }
    return 0;
}
