/* Constants of the function, in bounds, subscripts, sizes and values. */
#include <stdio.h>

#ifndef N
#define N 300
#endif

static float in[3 * N + 8], out[3 * N], level[N];

static void smooth(const float *x, float *y, int n)
{
    const int taps = 5, half = taps / 2;
    const long channels = 3;
    const float scale = 0.2f;
#pragma scop
    for (int i = 0; i < n * channels; i++) {
        float sum = 0;
        for (int k = -half; k < taps - half; k++)
            sum += x[i + k + half];
        y[i] = sum * scale;
    }
#pragma endscop
}

static void levels(const float *y, float *l, int n)
{
    enum { STRIDE = 3 };
    const unsigned char first = (unsigned char)256;
    static const int most = 2;
#pragma scop
    for (int i = 0; i < n; i++) {
        l[i] = y[STRIDE * i + first];
        for (int c = 1; c <= most; c++)
            if (l[i] < y[STRIDE * i + c])
                l[i] = y[STRIDE * i + c];
    }
#pragma endscop
}

struct image { int h, w; float *data; };

static void columns(const struct image *from, struct image *to, int step, int pad)
{
#pragma scop
    for (int y = 0; y < to->h; y++) {
        const int w = from->w;
        float *o = to->data + y * to->w;
        for (int k = 0; k < 3; k++) {
            int row = y * step + k - pad;
            if (row < 0 || row >= from->h)
                continue;
            const float *p = from->data + row * from->w;
            o[0] += p[1];
            for (int x = 1; x < w - 1; x++)
                o[x] = o[x] + p[x - 1] * 0.25f + p[x + 1];
            o[w - 1] += p[w - 2];
        }
    }
#pragma endscop
}

int main(void)
{
    for (int i = 0; i < 3 * N + 8; i++)
        in[i] = i * 37 % 101 / 8.0f;
    smooth(in, out, N);
    levels(out, level, N);
    struct image one = {20, N / 20, in}, two = {20, N / 20, level};
    columns(&one, &two, 1, 1);
    for (int i = 0; i < N; i += 13)
        printf("%.9g %.9g\n", out[3 * i], level[i]);
    return 0;
}
