/* The producer writes only a part of what is read: the rest comes from before the region. */
#include "driver.h"

static void partly(int n, int m, double t[n][m], double out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i += 2)
        for (int j = i; j < m; j++)
            t[i][j] = i - 2.0 * j;
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = t[i - 1][j] + 3.0 * t[i][j] + t[i + 1][j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 65;
        double *t = new_double(n * m), *out = new_double(n * m);
        partly(n, m, (void *)t, (void *)out);
        dump_double("t", t, n * m);
        dump_double("out", out, n * m);
        free(t), free(out);
    }
    return 0;
}
