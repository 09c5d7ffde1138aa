/* Windows of a radius that only a run knows, whose results are stored where data say so: the rows of what is stored
   are asked for as the others are. */
#include "driver.h"

static void peaks(float *restrict out, const float *restrict g, int w, int h, int r)
{
#pragma scop
    for (int y = r; y < h - r; y++)
        for (int x = r; x < w - r; x++) {
            float s = 0;
            for (int i = -r; i <= r; i++)
                s += g[y * w + x + i];
            if (s > 0.5f * (2 * r + 1))
                out[y * w + x] = s;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 3, 17, 66, 130) {
        for (int r = 0; r < 3; r++) {
            float *g = new_float(n * (n + 3)), *out = new_float(n * (n + 3));
            peaks(out, g, n, n + 3, r);
            dump_float("out", out, n * (n + 3));
            free(g), free(out);
        }
    }
    return 0;
}
