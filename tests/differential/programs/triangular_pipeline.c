/* Producer and consumer on triangles, with a bound that depends on two loops. */
#include "driver.h"

static void triangles(int n, double a[n][n], double out[n][n])
{
    double t[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            t[i][j] = a[i][j] + a[j][i];
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            out[i][j] = t[i][j] + t[i - 1][j] + t[i][j + 1];
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            for (int k = j; k < n; k += 3)
                out[i][j] += t[k][i];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 75) {
        double *a = new_double(n * n), *out = new_double(n * n);
        triangles(n, (void *)a, (void *)out);
        dump_double("out", out, n * n);
        free(a), free(out);
    }
    return 0;
}
