/* Fixed small arrays: 4x4 matrices in a loop over many, with the inner product unrolled by its bounds. */
#include "driver.h"

static void transform(int n, float m[4][4], float in[n][4], float out[n][4])
{
    float v[4];
#pragma scop
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < 4; i++) {
            v[i] = 0;
            for (int j = 0; j < 4; j++)
                v[i] += m[i][j] * in[p][j];
        }
        for (int i = 0; i < 4; i++)
            out[p][i] = v[i] / (v[3] + 10.0f);
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 33, 500) {
        float *m = new_float(16), *in = new_float(4 * n), *out = new_float(4 * n);
        transform(n, (void *)m, (void *)in, (void *)out);
        dump_float("out", out, 4 * n);
        free(m), free(in), free(out);
    }
    return 0;
}
