/* Block matching: the least of sums over small windows, and where it is, for each pixel. */
#include "driver.h"

static void match(int w, int h, const unsigned char *restrict l, const unsigned char *restrict r, int *restrict out)
{
#pragma scop
    for (int y = 3; y < h - 3; y++)
        for (int x = 19; x < w - 3; x++) {
            int best = 0x7fffffff, at = 0;
            for (int d = 0; d < 16; d++) {
                int sad = 0;
                for (int v = -3; v <= 3; v++)
                    for (int u = -3; u <= 3; u++)
                        sad += abs(l[(y + v) * w + x + u] - r[(y + v) * w + x + u - d]);
                if (sad < best) {
                    best = sad;
                    at = d;
                }
            }
            out[y * w + x] = at + 100 * (best % 7);
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 9, 23, 70, 131) {
        int h = n / 6 + 7;
        unsigned char *l = new_byte(n * h), *r = new_byte(n * h);
        int *out = new_int(n * h);
        match(n, h, l, r, out);
        dump_int("out", out, n * h);
        free(l), free(r), free(out);
    }
    return 0;
}
