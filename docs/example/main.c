/* Blurs a picture of its own making, and prints some of it. */
#include <stdio.h>
#include <stdlib.h>

#include "blur.h"

#define HEIGHT 300
#define WIDTH 500

int main(void)
{
    float (*in)[WIDTH] = malloc(sizeof(float[HEIGHT][WIDTH]));
    float (*out)[WIDTH - WINDOW + 1] = malloc(sizeof(float[HEIGHT - WINDOW + 1][WIDTH - WINDOW + 1]));
    if (!in || !out)
        return 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            in[y][x] = (float)((y * 31 + x * 17) % 256);
    blur(HEIGHT, WIDTH, in, out);
    for (int y = 0; y < HEIGHT - WINDOW + 1; y += 7)
        for (int x = 0; x < WIDTH - WINDOW + 1; x += 11)
            printf("%.9g\n", out[y][x]);
    free(in);
    free(out);
    return 0;
}
