/* Functions of one expression: for subscripts, borders and values, in all the ways that conversions matter. */
#include "driver.h"

enum { PAD = 1 };

static inline int idx(int y, int x, int w) { return y * w + x; }
static inline size_t idz(size_t y, size_t x, size_t w) { return y * w + x; }
static inline int clampi(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }

static inline int border(int x, int n)
{
    if (x < 0)
        x = 0;
    if (x >= n)
        x = n - PAD;
    return x;
}

static inline int inside(int y, int x, int h, int w) { return y >= 0 && y < h && x >= 0 && x < w; }
static inline float sq(float x) { return x * x; }
static inline float lerp(float a, float b, float t) { return a + t * (b - a); }
static inline float at(const float *p, int w, int y, int x) { return p[idx(y, x, w)]; }
static inline unsigned char byte(int x) { return x; }
static inline float larger(float a, float b) { return a > b ? a : b; }

static void smooth(int h, int w, const float *restrict in, float *restrict mid, float *restrict out)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            mid[idx(y, x, w)] = 0.25f * in[idx(y, clampi(x - 1, 0, w - 1), w)] + 0.5f * at(in, w, y, x)
                                + 0.25f * at(in, w, y, border(x + 1, w));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int ym = border(y - 1, h), yp = clampi(y + 1, 0, h - 1);
            out[idz(y, x, w)] = lerp(mid[idx(y, x, w)], mid[idx(ym, x, w)] + at(mid, w, yp, x), 0.25);
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            if (inside(y - 1, x + 1, h, w))
                mid[idx(y, x, w)] = sq(out[idx(y - 1, x + 1, w)] - at(out, w, y, x));
#pragma endscop
}

static void narrow(int n, const double *restrict a, const int *restrict k, double *restrict b, float *restrict m)
{
    float most = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        b[i] = sq(a[i]) + byte(k[i]) + byte(k[i] * 3) / 2;
        most = larger(most, a[i]);
    }
    m[0] = most;
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 5, 40, 130) {
        float *in = new_float(n * (n + 3)), *mid = new_float(n * (n + 3)), *out = new_float(n * (n + 3));
        smooth(n, n + 3, in, mid, out);
        dump_float("mid", mid, n * (n + 3));
        dump_float("out", out, n * (n + 3));
        double *a = new_double(n), *b = new_double(n);
        int *k = new_int(n);
        narrow(n, a, k, b, out);
        dump_double("b", b, n);
        dump_float("most", out, 1);
        free(in), free(mid), free(out), free(a), free(b), free(k);
    }
    return 0;
}
