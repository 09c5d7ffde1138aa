/* Unsigned bytes promoted to int, saturated, and averaged with a shift. */
#include "driver.h"

static void filter(int n, int m, unsigned char in[n][m], unsigned char out[n][m])
{
    unsigned char bright[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            bright[i][j] = (unsigned char)(in[i][j] + 40 > 255 ? 255 : in[i][j] + 40);
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m - 1; j++)
            out[i][j] = (unsigned char)((bright[i][j] + bright[i + 1][j] + bright[i][j + 1] + bright[i + 1][j + 1] + 2) >> 2);
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 33, 100) {
        int m = n + 100;
        unsigned char *in = new_byte(n * m), *out = new_byte(n * m);
        filter(n, m, (void *)in, (void *)out);
        dump_byte("out", out, n * m);
        free(in), free(out);
    }
    return 0;
}
