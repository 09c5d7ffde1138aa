/* memset, memcpy and memmove of rows, of whole arrays and of parts of them, as loops and in loops. */
#include <stdio.h>
#include <string.h>

#ifndef N
#define N 60
#endif

typedef struct { float re, im; } cplx;
typedef struct { int n; double *data; } table;

static double a[N * N], b[N * N], square[N][N], other[N][N];
static unsigned char pixels[3 * N * N], turned[3 * N * N];
static int counts[N * 16], least[N];
static cplx x[N * N], y[N * N];

static void heat(int n, int steps, double *restrict u, double *restrict v)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                v[i * n + j] = 0.25 * (u[i * n + j - 1] + u[i * n + j + 1] + u[(i - 1) * n + j] + u[(i + 1) * n + j]);
        memcpy(u, v, (size_t)n * n * sizeof(double));
    }
#pragma endscop
}

static void square_steps(int steps)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        memcpy(other, square, sizeof square);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                square[i][j] = 0.5 * other[i][j] + 0.125 * (other[i - 1][j] + other[i + 1][j]);
    }
#pragma endscop
}

static void flipped(int h, int w, const unsigned char *restrict s, unsigned char *restrict d)
{
#pragma scop
    for (int r = 0; r < h; r++)
        memcpy(d + (h - 1 - r) * w * 3, s + (size_t)r * w * 3, w * 3);
#pragma endscop
}

static void histograms(int n, int m, const unsigned char *restrict s, int *restrict out)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int h[16];
        memset(h, 0, sizeof h);
        for (int j = 0; j < m; j++)
            h[s[i * m + j] % 16]++;
        memcpy(&out[i * 16], h, sizeof(h));
    }
#pragma endscop
}

static void product(table *c, const double *p, const double *q)
{
    int n = c->n;
#pragma scop
    memset(c->data, 0, sizeof(double) * n * n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c->data[i * n + j] += p[i * n + k] * q[k * n + j];
#pragma endscop
}

static void minima(int n, const int *restrict c, int *restrict l)
{
#pragma scop
    (void)memset(l, 127, n * sizeof *l);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 16; j++)
            if (c[i * 16 + j] < l[i])
                l[i] = c[i * 16 + j];
#pragma endscop
}

static void records(int n, cplx *restrict to, cplx *restrict from)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        memmove(&to[i * n + 1], from + i * n, (n - 1) * sizeof(cplx));
        for (int j = 1; j < n; j++)
            to[i * n + j].re += 1;
    }
#pragma endscop
}

static void first_row_on(int n)
{
#pragma scop
    memset(square[0], 0, n * N * sizeof(double));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            other[i][j] = square[i][j] + 1;
#pragma endscop
}

static void shifted(int n, double *v)
{
#pragma scop
    for (int i = 0; i < n; i++)
        memmove(v + i * n + 1, v + i * n, (n - 1) * sizeof *v);
#pragma endscop
}

int main(void)
{
    table c = {N, b};
    for (int i = 0; i < N * N; i++) {
        a[i] = i * 31 % 17 / 8.0;
        b[i] = i * 7 % 13 / 4.0;
        square[i / N][i % N] = a[i] - b[i];
        other[i / N][i % N] = a[i] + b[i];
        x[i].re = y[i].im = i;
        x[i].im = y[i].re = i % 5;
        for (int k = 0; k < 3; k++)
            pixels[3 * i + k] = i * 5 + k;
    }
    heat(N, 9, a, b);
    square_steps(7);
    flipped(N, N, pixels, turned);
    histograms(N, N * 3, turned, counts);
    minima(N, counts, least);
    records(N, x, y);
    for (int i = 0; i < N * N; i += 331)
        printf("%.9g %.9g %.9g %.9g\n", a[i], b[i], square[i / N][i % N], other[i / N][i % N]);
    product(&c, a, square[0]);
    first_row_on(5);
    shifted(N, a);
    for (int i = 0; i < N * N; i += 217)
        printf("%.9g %d %g %g %d %.9g %g\n", b[i], least[i / N], x[i].re, x[i].im, counts[i / N * 16 + i % 16], a[i],
               other[i / N][i % N]);
    return 0;
}
