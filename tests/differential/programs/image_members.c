/* Images in structs and in variables of the file, with characters that are stored: pointers and sizes are read once,
   where the loops run at all. */
#include "driver.h"

typedef struct {
    int w, h;
    unsigned char *pix;
    float *gain;
} image;

static unsigned char *plane;
static int stride;

static void darken(const image *in, unsigned char *out)
{
#pragma scop
    for (int y = 0; y < in->h; y++)
        for (int x = 0; x < in->w; x++)
            out[y * in->w + x] = in->pix[y * in->w + x] >> (y % 3);
#pragma endscop
}

static void scale(image *in, int rows)
{
#pragma scop
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < stride; x++)
            plane[y * stride + x] = (unsigned char)(plane[y * stride + x] * 3 / 4);
        in->gain[y] = in->gain[y] * 0.5f + y;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 0, 1, 5, 64, 131) {
        image one = {n, n / 2 + 1, new_byte(n * (n / 2 + 1)), new_float(n)};
        unsigned char *out = new_byte(n * (n / 2 + 1));
        darken(&one, out);
        dump_byte("out", out, n * (n / 2 + 1));
        plane = out, stride = n;
        scale(&one, n / 2);
        dump_byte("plane", plane, n * (n / 2 + 1));
        dump_float("gain", one.gain, n);
        free(one.pix), free(one.gain), free(out);
    }
    darken(&(image){3, 0, NULL, NULL}, NULL);
    return 0;
}
