/* A histogram over data-dependent bins, and its running sum. */
#include "driver.h"

static void count(int n, int m, unsigned char b[n][m], int h[256], int cdf[256], int out[n][m])
{
#pragma scop
    for (int k = 0; k < 256; k++)
        h[k] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            h[b[i][j]]++;
    cdf[0] = h[0];
    for (int k = 1; k < 256; k++)
        cdf[k] = cdf[k - 1] + h[k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = cdf[b[i][j]] * 255 / (n * m);
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 33, 80) {
        int m = n + 7;
        unsigned char *b = new_byte(n * m);
        int *h = new_int(256), *cdf = new_int(256), *out = new_int(n * m);
        count(n, m, (void *)b, h, cdf, (void *)out);
        dump_int("h", h, 256);
        dump_int("out", out, n * m);
        free(b), free(h), free(cdf), free(out);
    }
    return 0;
}
