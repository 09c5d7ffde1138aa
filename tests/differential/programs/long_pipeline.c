/* Eight stages in one dimension with windows on both sides: the tiles grow by every stage. */
#include "driver.h"
#define STAGE(to, from) for (int i = 1; i < n - 1; i++) to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;

static void pipeline(int n, double in[n], double out[n])
{
    double b[n], c[n], d[n], e[n], f[n], g[n], h[n];
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = c[i] = in[i];
    for (int i = 0; i < n; i++) {
        d[i] = in[i];
        e[i] = f[i] = g[i] = h[i] = in[n - 1 - i];
    }
    STAGE(c, b)
    STAGE(d, c)
    STAGE(e, d)
    STAGE(f, e)
    STAGE(g, f)
    STAGE(h, g)
    STAGE(out, h)
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 34, 500, 3000) {
        double *in = new_double(n), *out = new_double(n);
        pipeline(n, in, out);
        dump_double("out", out, n);
        free(in), free(out);
    }
    return 0;
}
