/* Versions for the strides and widths that calls pass, and calls that pass something else. */
#include "driver.h"

enum { MOST = 60 };

static void filter(int n, int taps, int step, const float *a, const float *w, float *b)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int u = 0; u < taps; u++)
            s += w[u] * a[i * step + u];
        b[i] = s;
    }
#pragma endscop
}

static void pool(int h, int w, int size, int stride, const int *in, int *out)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int most = -1000;
            for (int v = 0; v < size; v++)
                for (int u = 0; u < size; u++)
                    if (in[(y * stride + v) * MOST + x * stride + u] > most)
                        most = in[(y * stride + v) * MOST + x * stride + u];
            out[y * w + x] = most;
        }
#pragma endscop
}

/* A radius that calls pass as 2 and 3, around a point. */
static void smooth(int n, int r, const double *restrict a, double *restrict b)
{
#pragma scop
    for (int i = r; i < n - r; i++) {
        double s = 0;
        for (int k = -r; k <= r; k++)
            s += a[i + k] * (1.0 / (2 * r + 1));
        b[i] = s;
    }
#pragma endscop
}

/* It is called with what nobody knows as well, so that there is no version for its step. */
static void thin(int n, int step, const int *restrict a, int *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            b[i] += a[i * step + j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 2, 7, 19, 40) {
        float *a = new_float(4 * MOST), *w = new_float(8), *b = new_float(MOST);
        int *image = new_int(MOST * MOST), *out = new_int(MOST * MOST), *thinned = new_int(MOST);
        int *far = new_int(41 * MOST);
        double *line = new_double(MOST), *smoothed = new_double(MOST);
        filter(n, 5, 1, a, w, b);
        filter(n, 3, 2, a, w, b + 20);
        dump_float("b", b, MOST);
        filter(n, 5, 1, a, w, a + 1); /* they overlap */
        filter(n, 3, 2, a + 2, w, a);
        dump_float("a", a, 4 * MOST);
        pool(n / 2, n / 2, 2, 1, image, out);
        dump_int("out", out, MOST * MOST);
        pool(n / 4, n / 2, 3, 2, image, out);
        dump_int("out", out, MOST * MOST);
        pool(n / 4, n / 4, 1, 3, image, out);
        dump_int("out", out, MOST * MOST);
        smooth(n, 2, line, smoothed);
        dump_double("smoothed", smoothed, MOST);
        smooth(n, 3, line, smoothed);
        dump_double("smoothed", smoothed, MOST);
        thin(n, 1, far, thinned);
        thin(n, n + 1, far, thinned);
        dump_int("thinned", thinned, MOST);
        free(a), free(w), free(b), free(image), free(out), free(thinned), free(far), free(line), free(smoothed);
    }
    return 0;
}
