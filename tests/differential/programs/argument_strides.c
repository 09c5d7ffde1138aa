/* Strides that are arguments: one that is mostly 1, one that each call passes as 2, and steps of loops. */
#include "driver.h"

struct layer { int c, h, w, oh, ow, stride; };

static void filter(const float *restrict in, const float *restrict k, float *restrict out, int h, int w, int oh, int ow,
                   int stride, int dilation, int pad)
{
#pragma scop
    for (int y = 0; y < oh; y++)
        for (int x = 0; x < ow; x++) {
            float s = 0;
            for (int u = 0; u < 3; u++)
                for (int v = 0; v < 3; v++) {
                    int iy = y * stride + u * dilation - pad, ix = x * stride + v * dilation - pad;
                    if (iy >= 0 && iy < h && ix >= 0 && ix < w)
                        s += in[iy * w + ix] * k[u * 3 + v];
                }
            out[y * ow + x] = s;
        }
#pragma endscop
}

static void pool(const struct layer *restrict l, const float *restrict in, float *restrict out)
{
#pragma scop
    for (int c = 0; c < l->c; c++)
        for (int i = 0; i < l->oh; i++)
            for (int j = 0; j < l->ow; j++) {
                float most = -1e30f;
                for (int n = 0; n < 2; n++)
                    for (int m = 0; m < 2; m++) {
                        int y = i * l->stride + n, x = j * l->stride + m;
                        if (y < l->h && x < l->w) {
                            float v = in[(c * l->h + y) * l->w + x];
                            most = v > most ? v : most;
                        }
                    }
                out[(c * l->oh + i) * l->ow + j] = most;
            }
#pragma endscop
}

static void thinned(int n, int m, unsigned step, const float *restrict in, float *restrict out)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 5; j++) {
            int x = i * (int)step + j;
            if (x < m)
                out[i] += in[x];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 5, 17, 40) {
        for (int stride = 1; stride <= 3; stride++) {
            int m = n / stride + 1;
            float *a = new_float(3 * n * n), *b = new_float(3 * m * m), k[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
            struct layer l = { 3, n, n, m, m, stride };
            filter(a, k, b, n, n, m, m, stride, stride == 2 ? 2 : 1, 1);
            dump_float("b", b, 3 * m * m);
            pool(&l, a, b);
            dump_float("b", b, 3 * m * m);
            thinned(m, 3 * n * n, 2, a, b);
            dump_float("b", b, 3 * m * m);
            free(a), free(b);
        }
    }
    return 0;
}
