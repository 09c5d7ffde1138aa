/* Conditions on data: a may-write in the middle of a pipeline. */
#include "driver.h"

static void clip(int n, int m, double a[n][m], double out[n][m])
{
    double t[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            t[i][j] = a[i][j] * 2.0;
            if (a[i][j] > 0.5)
                t[i][j] = 1.0 + a[i][j];
            else if (a[i][j] < -0.5)
                out[i][j] = 0.0;
        }
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            if (t[i][j] > t[i][j - 1])
                out[i][j] = t[i][j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 90;
        double *a = new_double(n * m), *out = new_double(n * m);
        clip(n, m, (void *)a, (void *)out);
        dump_double("out", out, n * m);
        free(a), free(out);
    }
    return 0;
}
