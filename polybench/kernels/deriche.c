/*
 * deriche: a recursive smoothing filter in single precision.  A causal and
 * an anti-causal pass over each row are added up, then the same over each
 * column.  The coefficients are those of the PolyBench kernel (Deriche's
 * own have other signs and factors in k and b1); they are computed inside
 * the region, as a run of scalar statements.
 */
#include "harness.h"
#include <math.h>

#define W SIZE(64, 192, 720, 4096, 7680)
#define H SIZE(64, 128, 480, 2160, 4320)

static void kernel_deriche(int w, int h, float alpha, float in[w][h], float out[w][h],
                           float fwd[w][h], float bwd[w][h])
{
    int i, j;
    float k;
    float a1, a2, a3, a4, a5, a6, a7, a8;
    float b1, b2, c1, c2;
    float xm1, tm1, ym1, ym2;
    float xp1, xp2, tp1, tp2, yp1, yp2;

#pragma scop
    k = (1.0 - exp(-alpha)) * (1.0 - exp(-alpha))
        / (1.0 + 2.0 * alpha * exp(-alpha) - exp(2.0 * alpha));
    a1 = k;
    a5 = k;
    a2 = k * exp(-alpha) * (alpha - 1.0);
    a6 = a2;
    a3 = k * exp(-alpha) * (alpha + 1.0);
    a7 = a3;
    a4 = -k * exp(-2.0 * alpha);
    a8 = a4;
    b1 = pow(2.0, -alpha);
    b2 = -exp(-2.0 * alpha);
    c1 = 1;
    c2 = 1;

    for (i = 0; i < w; i++) {
        ym1 = 0.0f;
        ym2 = 0.0f;
        xm1 = 0.0f;
        for (j = 0; j < h; j++) {
            fwd[i][j] = a1 * in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = in[i][j];
            ym2 = ym1;
            ym1 = fwd[i][j];
        }
    }

    for (i = 0; i < w; i++) {
        yp1 = 0.0f;
        yp2 = 0.0f;
        xp1 = 0.0f;
        xp2 = 0.0f;
        for (j = h - 1; j >= 0; j--) {
            bwd[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = in[i][j];
            yp2 = yp1;
            yp1 = bwd[i][j];
        }
    }

    for (i = 0; i < w; i++)
        for (j = 0; j < h; j++)
            out[i][j] = c1 * (fwd[i][j] + bwd[i][j]);

    for (j = 0; j < h; j++) {
        tm1 = 0.0f;
        ym1 = 0.0f;
        ym2 = 0.0f;
        for (i = 0; i < w; i++) {
            fwd[i][j] = a5 * out[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2;
            tm1 = out[i][j];
            ym2 = ym1;
            ym1 = fwd[i][j];
        }
    }

    for (j = 0; j < h; j++) {
        tp1 = 0.0f;
        tp2 = 0.0f;
        yp1 = 0.0f;
        yp2 = 0.0f;
        for (i = w - 1; i >= 0; i--) {
            bwd[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2;
            tp2 = tp1;
            tp1 = out[i][j];
            yp2 = yp1;
            yp1 = bwd[i][j];
        }
    }

    for (i = 0; i < w; i++)
        for (j = 0; j < h; j++)
            out[i][j] = c2 * (fwd[i][j] + bwd[i][j]);
#pragma endscop
}

int main(void)
{
    float (*in)[H] = bench_alloc(W, sizeof *in);
    float (*out)[H] = bench_alloc(W, sizeof *out);
    float (*fwd)[H] = bench_alloc(W, sizeof *fwd);
    float (*bwd)[H] = bench_alloc(W, sizeof *bwd);

    bench_fill_float(in, W * H, 1, 0.25f, 1.0f);

    bench_start();
    kernel_deriche(W, H, 0.25f, in, out, fwd, bwd);
    bench_stop();

    bench_dump_float("out", out, W, H);
    bench_dump_float("fwd", fwd, W, H);
    bench_dump_float("bwd", bwd, W, H);
    bench_free(in);
    bench_free(out);
    bench_free(fwd);
    bench_free(bwd);
    return 0;
}
