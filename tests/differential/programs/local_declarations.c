/* Declarations at every depth, one name twice, initialisers, and a small local array. */
#include "driver.h"

static void local(int n, int m, double in[n][m], double out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double scale = 1.0 + i;
        for (int j = 1; j < m - 1; j++) {
            double w[3];
            for (int k = 0; k < 3; k++)
                w[k] = in[i][j + k - 1] * scale;
            const double s = w[0] + w[1], t = w[1] + w[2];
            out[i][j] = s * t;
        }
    }
    for (int i = 0; i < n; i++) {
        int scale = 3;
        out[i][0] = scale * i;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 60) {
        int m = n + 5;
        double *in = new_double(n * m), *out = new_double(n * m);
        local(n, m, (void *)in, (void *)out);
        dump_double("out", out, n * m);
        free(in), free(out);
    }
    return 0;
}
