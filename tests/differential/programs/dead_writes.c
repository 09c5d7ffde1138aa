/* Values that are overwritten before anybody reads them, and a producer without a consumer. */
#include "driver.h"

static void dead(int n, int m, double a[n][m], double out[n][m])
{
    double unused[n][m];
    (void)unused;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            out[i][j] = 5.0;
            unused[i][j] = a[i][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = i; j < m; j++)
            out[i][j] = a[i][j] + 1.0;
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = out[i][j] * out[i + 1][j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 65;
        double *a = new_double(n * m), *out = new_double(n * m);
        dead(n, m, (void *)a, (void *)out);
        dump_double("out", out, n * m);
        free(a), free(out);
    }
    return 0;
}
