/* Pointers that may lead nowhere, which loops ask about, and write through. */
#include "driver.h"

static void smooth(int n, int m, const float *restrict in, float *restrict out, float *restrict more,
                   const float *restrict bias)
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) {
            float v = in[i * m + j - 1] + in[i * m + j + 1] + in[(i - 1) * m + j] + in[(i + 1) * m + j];
            if (bias != 0)
                v += bias[j];
            out[i * m + j] = v;
            if (more)
                more[i * m + j] = v * v;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 40, 70) {
        int m = n + 5;
        float *in = new_float(n * m), *out = new_float(n * m), *more = new_float(n * m), *bias = new_float(m);
        smooth(n, m, in, out, 0, bias);
        dump_float("out", out, n * m);
        smooth(n, m, in, out, more, 0);
        dump_float("out", out, n * m);
        dump_float("more", more, n * m);
        free(in), free(out), free(more), free(bias);
    }
    return 0;
}
