/* Layers as people write them: structs of sizes and pointers, borders by `if`, sums in variables; windows of bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { int c, h, w; float *d; } tensor;
typedef struct { int in, out, k; float *w, *b; } layer;
typedef struct { size_t width, height, stride; uint8_t *pixels; } image;

#define PX(im, x, y) ((im)->pixels[(y) * (im)->stride + (x)])

static void convolve(const layer *l, const tensor *x, tensor *y)
{
    int pad = l->k / 2;
    for (int o = 0; o < l->out; o++)
        for (int i = 0; i < y->h; i++)
            for (int j = 0; j < y->w; j++) {
                float acc = l->b[o];
                for (int c = 0; c < l->in; c++)
                    for (int ki = 0; ki < l->k; ki++)
                        for (int kj = 0; kj < l->k; kj++) {
                            int yy = i + ki - pad, xx = j + kj - pad;
                            if (yy >= 0 && yy < x->h && xx >= 0 && xx < x->w)
                                acc += x->d[(c * x->h + yy) * x->w + xx] * l->w[((o * l->in + c) * l->k + ki) * l->k + kj];
                        }
                y->d[(o * y->h + i) * y->w + j] = acc;
            }
}

static void erode(const image *in, image *out)
{
    for (size_t y = 1; y + 1 < in->height; y++)
        for (size_t x = 1; x + 1 < in->width; x++) {
            uint8_t m = 255;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    uint8_t v = PX(in, x + dx, y + dy);
                    if (v < m)
                        m = v;
                }
            PX(out, x, y) = m;
        }
}

static void normalise(tensor *t, const layer *l)
{
    for (int c = 0; c < t->c; c++) {
        float by = 1.0f / (l->b[c] * l->b[c] + 0.5f);
        for (int i = 0; i < t->h * t->w; i++) {
            float *p = &t->d[c * t->h * t->w + i];
            *p = (*p - l->w[c]) * by;
        }
    }
}

static void shift(tensor *t, const layer *l)
{
    for (int c = 0; c < t->c; c++) {
        float *plane = t->d + c * t->h * t->w;
        const float *from = l->w + c;
        for (int i = 0; i < t->h * t->w; i++)
            plane[i] += *from * 0.25f;
    }
}

static tensor drawn(int c, int h, int w)
{
    tensor t = {c, h, w, malloc(sizeof(float) * c * h * w)};
    for (int i = 0; i < c * h * w; i++)
        t.d[i] = i * 37 % 101 * 0.0625f - 3;
    return t;
}

int main(void)
{
    tensor x = drawn(3, 21, 34), y = drawn(5, 21, 34), w = drawn(15, 3, 3), b = drawn(5, 1, 1);
    layer l = {3, 5, 3, w.d, b.d}, none = {3, 0, 3, w.d, b.d};
    image from = {70, 33, 80, malloc(80 * 33)}, to = {70, 33, 72, malloc(72 * 33)};
    convolve(&l, &x, &y);
    convolve(&none, NULL, &y);
    normalise(&y, &l);
    shift(&y, &l);
    for (int i = 0; i < 80 * 33; i++)
        from.pixels[i] = i * 89 % 251;
    for (int i = 0; i < 72 * 33; i++)
        to.pixels[i] = 7;
    erode(&from, &to);
    for (int i = 0; i < 5 * 21 * 34; i += 173)
        printf("%.9g %d\n", y.d[i], to.pixels[i % (72 * 33)]);
    return 0;
}
