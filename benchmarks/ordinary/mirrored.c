/*
 * A 5 x 5 filter and a local contrast of an image that is mirrored at its borders; sizes are unsigned, as those of file
 * formats are.
 */
#include "clock.h"

#ifdef SMALL
enum { WIDTH = 45, HEIGHT = 30, FRAMES = 2 };
#else
enum { WIDTH = 1277, HEIGHT = 719, FRAMES = 4 };
#endif

struct image {
    unsigned width, height;
    float *pixels;
};

static int mirror(int at, int count)
{
    return at < 0 ? -at - 1 : at >= count ? 2 * count - at - 1 : at;
}

static void filter(const struct image *in, struct image *out, const float *weights, int radius)
{
    const int w = (int)in->width, h = (int)in->height;

#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0.0f;
            for (int v = -radius; v <= radius; v++)
                for (int u = -radius; u <= radius; u++)
                    sum += weights[(v + radius) * (2 * radius + 1) + u + radius]
                           * in->pixels[mirror(y + v, h) * w + mirror(x + u, w)];
            out->pixels[y * w + x] = sum;
        }
#pragma endscop
}

static void contrast(const struct image *in, const struct image *smooth, struct image *out, float amount)
{
#pragma scop
    for (unsigned y = 0; y < in->height; y++)
        for (unsigned x = 0; x < in->width; x++) {
            float v = in->pixels[y * in->width + x], s = smooth->pixels[y * in->width + x];
            out->pixels[y * in->width + x] = v + amount * (v - s);
        }
#pragma endscop
}

int main(void)
{
    struct image in = { WIDTH, HEIGHT, memory(WIDTH * HEIGHT, sizeof(float)) };
    struct image smooth = { WIDTH, HEIGHT, memory(WIDTH * HEIGHT, sizeof(float)) };
    struct image out = { WIDTH, HEIGHT, memory(WIDTH * HEIGHT, sizeof(float)) };
    float weights[25];
    double sum = 0.0;

    for (int k = 0; k < 25; k++)
        weights[k] = (float)(1 + k % 5) / 75.0f;
    for (int k = 0; k < WIDTH * HEIGHT; k++)
        in.pixels[k] = (float)noise();
    clock_start();
    for (int frame = 0; frame < FRAMES; frame++) {
        filter(&in, &smooth, weights, 2);
        contrast(&in, &smooth, &out, 0.5f);
        in.pixels[frame] = out.pixels[frame + 1];
    }
    clock_stop();
    for (int k = 0; k < WIDTH * HEIGHT; k++)
        sum += out.pixels[k] * (1 + k % 7);
    printf("%.17g\n", sum);
    return 0;
}
