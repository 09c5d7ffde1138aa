/* A layer of a neural network, as a person writes it: quantise an image, convolve it with a small window, cut off
   what is negative (ReLU). Three loop nests, one after the other; the quantised image is as large as the input.
   This is Figure 1(a) of Zhao et al., "Modeling the interplay between loop tiling and fusion", 2024. */
#include "conv.h"

#define LEVELS 16.0f /* quantise the values, which lie between 0 and 1, to sixteenths */

void convolve(const float image[H][W], const float window[KH][KW], float result[H][W])
{
    static float A[H][W]; /* too large for the stack; nobody reads it after this function */

#pragma polyc live-out(result)
#pragma scop
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            A[h][w] = (int)(image[h][w] * LEVELS + 0.5f) / LEVELS;

    for (int h = 0; h <= H - KH; h++)
        for (int w = 0; w <= W - KW; w++) {
            result[h][w] = 0;
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++)
                    result[h][w] += A[h + kh][w + kw] * window[kh][kw];
        }

    for (int h = 0; h <= H - KH; h++)
        for (int w = 0; w <= W - KW; w++)
            result[h][w] = result[h][w] > 0 ? result[h][w] : 0;
#pragma endscop
}
