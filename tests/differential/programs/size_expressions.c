/* Quotients, remainders, shifts and masks of sizes as bounds, in steps that are sizes, and as conditions. */
#include <stdio.h>

#define N 96

static double a[N * N], b[N * N], re[N], im[N];

static void levels(int w, int h, int level, double *restrict x, double *restrict y)
{
#pragma scop
    for (int i = 0; i < h >> level; i++)
        for (int j = 0; j < w >> level; j++)
            y[i * w + j] = 0.25 * (x[2 * i * w + 2 * j] + x[2 * i * w + 2 * j + 1]);
    for (int i = 0; i < h / 2; i++)
        for (int j = 0; j < w / 2; j++)
            y[i * w + j] += i;
#pragma endscop
}

static void ends(int n, int level, int flags, double *restrict x, double *restrict y)
{
#pragma scop
    for (int j = 0; j < (1 << level); j++)
        x[j] += flags & 5 ? 1.0 : 2.0;
    for (int j = n & ~3; j < n; j++)
        y[j] *= 3;
#pragma endscop
}

static void blocks(int n, int s, double *restrict x, double *restrict y)
{
#pragma scop
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i += s)
            x[i] += y[i] + k;
#pragma endscop
}

static void parts(int m, int n, int s, double *restrict x, double *restrict y)
{
#pragma scop
    for (int k = 0; k < m; k++)
        for (int i = 0; i < n / s; i++)
            y[k * n + i] = 2 * x[i];
#pragma endscop
}

static void butterflies(int n, int len, double *restrict p, double *restrict q)
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i += 2 * len)
        for (j = 0; j < len; j++) {
            double u = p[i + j], v = p[i + j + len] * q[j];
            p[i + j] = u + v;
            p[i + j + len] = u - v;
        }
#pragma endscop
}

static void remainders(long n, long m, double *restrict x)
{
#pragma scop
    for (long i = 0; i < n % m; i++)
        x[i] = x[i + n / m] + (n ^ m);
#pragma endscop
}

static void interleaved(long frames, int channels, double *restrict x, const double *restrict gain)
{
#pragma scop
    for (int c = 0; c < channels; c++) {
        double level = 0;
        for (long i = c; i < frames * channels; i += channels) {
            x[i] *= gain[c];
            level += x[i];
        }
        x[c] += level;
    }
    for (long i = 0; i < channels * frames; i += channels)
        x[i] += 1;
#pragma endscop
}

int main(void)
{
    double sum = 0;
    for (int i = 0; i < N * N; i++) {
        a[i] = i * 7 % 23;
        b[i] = i * 5 % 19;
    }
    for (int i = 0; i < N; i++) {
        re[i] = i % 11;
        im[i] = i % 5;
    }
    for (int level = 1; level < 5; level++)
        levels(8 * level + 5, 40 + level, level, a, b), ends(90 + level, level, 3 * level, a, b);
    for (int s = 1; s < 70; s += 9) {
        blocks(64, s, a, b);
        blocks(61, s + 3, b, a);
        parts(5, 62, s, a, b);
    }
    blocks(0, 0, a, b);
    blocks(-3, 2, a, b);
    parts(0, 5, 0, a, b);
    for (int len = 1; len < 64; len *= 2)
        butterflies(64, len, re, im);
    for (int channels = 0; channels < 7; channels++)
        interleaved(57 - 9 * channels, channels, a + 7, re);
    for (long m = 1; m < 40; m += 5)
        remainders(70 + m, m, a);
    for (int i = 0; i < N * N; i++) {
        sum += a[i] * (i % 13) - b[i] * (i % 7);
        if (i % 701 == 0)
            printf("%g %g\n", a[i], b[i]);
    }
    for (int i = 0; i < N; i++)
        printf("%g%c", re[i], i % 8 == 7 ? '\n' : ' ');
    printf("%.10g\n", sum);
    return 0;
}
