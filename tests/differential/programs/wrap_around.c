/* Borders that go round, in the ways that people write them: % by a size, by a constant, by a choice, by a function. */
#include "driver.h"
#define W 24

static inline int wrap(int x, int n) { return (x + n) % n; }
static inline int idx(int y, int x, int w) { return y * w + x; }

static inline int mod(int a, int n)
{
    int r = a % n;
    return r < 0 ? r + n : r;
}

static void torus(int steps, int h, int w, double a[h][w], double b[h][w])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                int im = i == 0 ? h - 1 : i - 1, ip = (i + 1) % h;
                b[i][j] = 0.25 * (a[im][j] + a[ip][j] + a[i][(j + w - 1) % w] + a[i][wrap(j + 1, w)]);
            }
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++)
                a[i][j] = b[i][j];
    }
#pragma endscop
}

static void flat(int h, int w, const float *restrict in, float *restrict mid, float *restrict out)
{
#pragma scop
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) {
            int k = idx(i, j, w);
            mid[k] = in[idx(i, mod(j - 1, w), w)] + in[k] + in[i * w + (j + 2) % w];
        }
    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            out[i * w + j] = mid[((i - 1 + h) % h) * w + j] - mid[idx(mod(i + 1, h), j, w)];
#pragma endscop
}

static void rows(int h, const int a[h][W], int b[h][W])
{
#pragma scop
    for (int i = 0; i < h; i++)
        for (int j = 0; j < W; j++)
            b[i][(j + 1) % W] = a[i][(j + W - 3) % W] + 2 * a[(i + 5) % h][j] + (j - 7) % W + (i - 3) % h;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 4, 7, 30, 70) {
        int w = n + n % 3;
        double *a = new_double(n * w), *b = new_double(n * w);
        torus(n % 5, n, w, (void *)a, (void *)b);
        dump_double("a", a, n * w);
        dump_double("b", b, n * w);
        float *in = new_float(n * w), *mid = new_float(n * w), *out = new_float(n * w);
        flat(n, w, in, mid, out);
        dump_float("mid", mid, n * w);
        dump_float("out", out, n * w);
        int *c = new_int(n * W), *d = new_int(n * W);
        rows(n, (void *)c, (void *)d);
        dump_int("d", d, n * W);
        free(a), free(b), free(in), free(mid), free(out), free(c), free(d);
    }
    return 0;
}
