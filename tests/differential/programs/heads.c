/* Rows of several heads in one row of memory: sizes that are products of others. */
#include "driver.h"

static void heads(float *out, float *att, const float *inp, int T, int C, int NH)
{
    int C3 = C * 3;
    int hs = C / NH;
#pragma scop
    for (int t = 0; t < T; t++)
        for (int h = 0; h < NH; h++) {
            const float *query = inp + t * C3 + h * hs;
            float *a = att + h * T * T + t * T;
            for (int t2 = 0; t2 <= t; t2++) {
                const float *key = inp + t2 * C3 + h * hs + C;
                float val = 0.0f;
                for (int i = 0; i < hs; i++)
                    val += query[i] * key[i];
                a[t2] = val;
            }
            float *o = out + t * C + h * hs;
            for (int i = 0; i < hs; i++)
                o[i] = 0.0f;
            for (int t2 = 0; t2 <= t; t2++) {
                const float *value = inp + t2 * C3 + h * hs + C * 2;
                for (int i = 0; i < hs; i++)
                    o[i] += a[t2] * value[i];
            }
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 8, 17, 40) { /* the last heads of 17 do not fill a row */
        int T = n / 2 + 3;
        float *in = new_float(3 * T * n), *out = new_float(T * n), *att = new_float(4 * T * T);
        heads(out, att, in, T, n, n < 4 ? 1 : 4);
        dump_float("out", out, T * n);
        dump_float("att", att, 4 * T * T);
        free(in), free(out), free(att);
    }
    return 0;
}
