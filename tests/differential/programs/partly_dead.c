/* As above with a producer that nobody needs afterwards: its buffer has to take the old values along. */
#include "driver.h"

static void partly(int n, int m, double t[n][m], double out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 2; i < n; i++)
        for (int j = 0; j < m - 3; j++)
            t[i][j] = out[i][j] * 0.5;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i][j] = t[i - 1][j - 1] + t[i][j + 1] * t[i + 1][j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 65;
        double *t = new_double(n * m), *out = new_double(n * m);
        partly(n, m, (void *)t, (void *)out);
        dump_double("out", out, n * m);
        free(t), free(out);
    }
    return 0;
}
