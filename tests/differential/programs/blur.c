/* A separable blur; the intermediate is live-out as well. */
#include "driver.h"

static void blur(int n, int m, double in[n][m], double mid[n][m], double out[n][m])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 1; j < m - 1; j++)
            mid[i][j] = (in[i][j - 1] + in[i][j] + in[i][j + 1]) / 3.0;
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < m - 1; j++)
            out[i][j] = (mid[i - 1][j] + mid[i][j] + mid[i + 1][j]) / 3.0;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 4, 33, 70, 131) {
        int m = n == 4 ? 300 : n;
        double *in = new_double(n * m), *mid = new_double(n * m), *out = new_double(n * m);
        blur(n, m, (void *)in, (void *)mid, (void *)out);
        dump_double("mid", mid, n * m);
        dump_double("out", out, n * m);
        free(in), free(mid), free(out);
    }
    return 0;
}
