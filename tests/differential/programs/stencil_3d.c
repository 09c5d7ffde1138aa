/* Two stages of a stencil in three dimensions, with size_t sizes and a long loop variable. */
#include "driver.h"

static void stencil(size_t n, long m, double a[n][m][m], double out[n][m][m])
{
    double t[n][m][m];
#pragma scop
    for (size_t i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            for (long k = 1; k < m - 1; k++)
                t[i][j][k] = a[i][j][k - 1] + a[i][j][k] + a[i][j][k + 1];
    for (size_t i = 1; i + 1 < n; i++)
        for (long j = 1; j < m - 1; j++)
            for (long k = 1; k < m - 1; k++)
                out[i][j][k] = t[i - 1][j][k] + t[i + 1][j][k] + t[i][j - 1][k] + t[i][j + 1][k];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 17, 36) {
        int m = n + 4, all = n * m * m;
        double *a = new_double(all), *out = new_double(all);
        stencil(n, m, (void *)a, (void *)out);
        dump_double("out", out, all);
        free(a), free(out);
    }
    return 0;
}
