/* A blur in two steps: the mean over a row of the window, then over the rows. */
#include "blur.h"

void blur(int height, int width, float in[height][width], float out[height - WINDOW + 1][width - WINDOW + 1])
{
    float rows[height][width];

#pragma scop
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width - WINDOW + 1; x++) {
            rows[y][x] = 0;
            for (int k = 0; k < WINDOW; k++)
                rows[y][x] += in[y][x + k] / WINDOW;
        }
    for (int y = 0; y < height - WINDOW + 1; y++)
        for (int x = 0; x < width - WINDOW + 1; x++) {
            out[y][x] = 0;
            for (int k = 0; k < WINDOW; k++)
                out[y][x] += rows[y + k][x] / WINDOW;
        }
#pragma endscop
}
