/*
 * Interleaved RGB bytes to planar YCbCr 4:2:0 in fixed point (BT.601, full range): a luma byte a pixel, and from the
 * mean of each square of four a byte of either chroma.
 */
#include "clock.h"

#ifdef SMALL
#define WIDTH 34
#define HEIGHT 18
#else
#define WIDTH 7680
#define HEIGHT 4320
#endif

static void to_ycbcr(int width, int height, const uint8_t *rgb, uint8_t *luma, uint8_t *cb, uint8_t *cr)
{
#pragma scop
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int r = rgb[3 * (y * width + x)], g = rgb[3 * (y * width + x) + 1], b = rgb[3 * (y * width + x) + 2];

            luma[y * width + x] = (uint8_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
        }
    for (int y = 0; y < height / 2; y++)
        for (int x = 0; x < width / 2; x++) {
            int r = 0, g = 0, b = 0;

            for (int j = 0; j < 2; j++)
                for (int i = 0; i < 2; i++) {
                    r += rgb[3 * ((2 * y + j) * width + 2 * x + i)];
                    g += rgb[3 * ((2 * y + j) * width + 2 * x + i) + 1];
                    b += rgb[3 * ((2 * y + j) * width + 2 * x + i) + 2];
                }
            cb[y * (width / 2) + x] = (uint8_t)((-43 * r - 85 * g + 128 * b + (128 << 10) + 511) >> 10);
            cr[y * (width / 2) + x] = (uint8_t)((128 * r - 107 * g - 21 * b + (128 << 10) + 511) >> 10);
        }
#pragma endscop
}

int main(void)
{
    const size_t pixels = (size_t)WIDTH * HEIGHT;
    uint8_t *rgb = memory(pixels, 3), *luma = memory(pixels, 1);
    uint8_t *cb = memory(pixels / 4, 1), *cr = memory(pixels / 4, 1);
    unsigned long sum = 0;

    for (size_t i = 0; i < 3 * pixels; i++)
        rgb[i] = (uint8_t)(256.0 * noise());
    clock_start();
    to_ycbcr(WIDTH, HEIGHT, rgb, luma, cb, cr);
    clock_stop();
    for (size_t i = 0; i < pixels; i++)
        sum = sum * 31 + luma[i];
    for (size_t i = 0; i < pixels / 4; i++)
        sum = sum * 31 + cb[i] * 3u + cr[i];
    printf("%lu\n", sum);
    free(cr);
    free(cb);
    free(luma);
    free(rgb);
    return 0;
}
