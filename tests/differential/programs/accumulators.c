/* Sums, averages, largest elements and products in scalars, with beginnings and ends of any form. */
#include <math.h>

#include "driver.h"

/* Convolution: from an array, cut off below zero. */
static void layer(int co, int ci, int n, float in[ci][n + 2][n + 2], float w[co][ci][3][3], float bias[co],
                  float conv[co][n][n])
{
#pragma scop
    for (int o = 0; o < co; o++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                float s = bias[o];
                for (int c = 0; c < ci; c++)
                    for (int u = 0; u < 3; u++)
                        for (int v = 0; v < 3; v++)
                            s += in[c][y + u][x + v] * w[o][c][u][v];
                conv[o][y][x] = s > 0 ? s : 0;
            }
#pragma endscop
}

/* The largest of each window. */
static void largest(int co, int n, float conv[co][n][n], float pool[co][n / 2][n / 2])
{
#pragma scop
    for (int o = 0; o < co; o++)
        for (int y = 0; y < n / 2; y++)
            for (int x = 0; x < n / 2; x++) {
                float most = -1e30f;
                for (int u = 0; u < 2; u++)
                    for (int v = 0; v < 2; v++)
                        most = fmaxf(most, conv[o][2 * y + u][2 * x + v]);
                pool[o][y][x] = most;
            }
#pragma endscop
}

/* Scaled, shifted, and cut off by an assignment that data decide on; the sum goes to two arrays. */
static void scaled(int co, int n, int r, float in[n + r][n + r], float w[co][r][r], float scale[co], float shift[co],
                   float out[co][n][n], double squares[co][n][n])
{
#pragma scop
    for (int o = 0; o < co; o++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double s = 0;
                for (int u = 0; u < r; u++)
                    for (int v = 0; v < r; v++)
                        s += (double)in[y + u][x + v] * w[o][u][v];
                squares[o][y][x] = s * s;
                s = s * scale[o] + shift[o];
                if (s < 0)
                    s = 0;
                out[o][y][x] = s;
            }
#pragma endscop
}

/* Two sums at once, a third that needs them, all declared outside. */
static void moments(int n, int m, float A[n][m], float mean[n], float spread[n], float skew[m], double *last)
{
    double s, q, t = 0;
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        s = 0;
        q = 0;
        for (j = 0; j < m; j++) {
            s += A[i][j];
            q += A[i][j] * A[i][j];
        }
        mean[i] = s / m;
        spread[i] = sqrt(q / m - s / m * (s / m) + 1);
    }
    for (j = 0; j < m; j++) {
        s = q = 0;
        for (i = 0; i < n; i++)
            s += A[i][j];
        for (i = 0; i < n; i++)
            q += (A[i][j] - s / n) * (A[i][j] - s / n);
        s = 1;
        for (i = 0; i < n; i++)
            s *= 1 + 0.001 * A[i][j];
        t = s;
        skew[j] = q * t;
    }
#pragma endscop
    *last = t;
}

/* Whole numbers of several widths; the largest as an if; where the largest is. */
static void whole(int n, int r, unsigned char in[n + r][n + r], int w[r][r], unsigned char out[n][n], int most[n][n],
                  short dots[n][n])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int s = 128, m = in[y][x];
            for (int u = 0; u < r; u++)
                for (int v = 0; v < r; v++) {
                    s += in[y + u][x + v] * w[u][v];
                    if (in[y + u][x + v] > m)
                        m = in[y + u][x + v];
                }
            out[y][x] = s >> 8;
            most[y][x] = m;
        }
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int s = 0;
            for (int k = 0; k < n; k++)
                s += in[y][k] * in[k][x];
            dots[y][x] = s % 1000;
        }
#pragma endscop
}

/* Sums that end in no element: counted, compared, added up. */
static void nowhere(int n, int r, float in[n + r], float w[r], int *count, float *best, float *total)
{
    int c = 0;
    float b = -1e30f, t = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = 0; k < r; k++)
            s += in[i + k] * w[k];
        if (s > 0)
            c++;
        if (s > b)
            b = s;
        t += s;
    }
#pragma endscop
    *count = c;
    *best = b;
    *total = t;
}

/* Complex filter: each sum reads both parts. */
static void filter(int n, int r, double xr[n + r], double xi[n + r], double hr[r], double hi[r], double yr[n],
                   double yi[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double re = 0, im = 0;
        for (int k = 0; k < r; k++) {
            re += xr[i + k] * hr[k] - xi[i + k] * hi[k];
            im += xr[i + k] * hi[k] + xi[i + k] * hr[k];
        }
        yr[i] = re;
        yi[i] = im;
    }
#pragma endscop
}

/* The sum starts from its element, and is an average of two; beginnings differ from triangle to triangle. */
static void triangle(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = j < i ? C[i][j] : 1;
            for (int k = j; k <= i; k++)
                s += A[i][k] * B[k][j];
            C[i][j] = 0.5 * s;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 9, 34) {
        int co = n / 3 + 1, ci = n / 2 + 1, r = n / 4 + 1, m = 2 * n + 3;
        float *in = new_float(ci * (n + 2) * (n + 2)), *w = new_float(co * ci * 9), *bias = new_float(co);
        float *conv = new_float(co * n * n), *pool = new_float(co * (n / 2) * (n / 2) + 1);
        layer(co, ci, n, (void *)in, (void *)w, bias, (void *)conv);
        largest(co, n, (void *)conv, (void *)pool);
        dump_float("conv", conv, co * n * n);
        dump_float("pool", pool, co * (n / 2) * (n / 2));
        float *image = new_float((n + r) * (n + r)), *windows = new_float(co * r * r), *shift = new_float(co);
        double *squares = new_double(co * n * n);
        scaled(co, n, r, (void *)image, (void *)windows, bias, shift, (void *)conv, (void *)squares);
        dump_float("scaled", conv, co * n * n);
        dump_double("squares", squares, co * n * n);
        float *A = new_float(n * m), *mean = new_float(n), *spread = new_float(n), *skew = new_float(m);
        double last;
        moments(n, m, (void *)A, mean, spread, skew, &last);
        dump_float("mean", mean, n);
        dump_float("spread", spread, n);
        dump_float("skew", skew, m);
        dump_double("last", &last, 1);
        unsigned char *pixels = new_byte((n + r) * (n + r)), *out = new_byte(n * n);
        int *taps = new_int(r * r), *most = new_int(n * n), count;
        short *dots = malloc(n * n * sizeof *dots);
        whole(n, r, (void *)pixels, (void *)taps, (void *)out, (void *)most, (void *)dots);
        for (int k = 0; k < n * n; k++)
            printf("%d %d %d\n", out[k], most[k], dots[k]);
        float best, total;
        nowhere(n, r, image, windows, &count, &best, &total);
        printf("%d %.9g %.9g\n", count, best, total);
        double *x = new_double(4 * (n + r)), *y = new_double(2 * n);
        filter(n, r, x, x + n + r, x + 2 * (n + r), x + 3 * (n + r), y, y + n);
        dump_double("filter", y, 2 * n);
        double *a = new_double(n * n), *b = new_double(n * n), *c = new_double(n * n);
        triangle(n, (void *)a, (void *)b, (void *)c);
        dump_double("triangle", c, n * n);
        free(in), free(w), free(bias), free(conv), free(pool), free(image), free(windows), free(shift), free(squares);
        free(A), free(mean), free(spread), free(skew), free(pixels), free(out), free(taps), free(most), free(dots);
        free(x), free(y), free(a), free(b), free(c);
    }
    return 0;
}
