/*
 * The Mandelbrot set with a fixed number of iterations: how many of them a point stays near, without leaving the loop,
 * so that all pixels do the same work.
 */
#include "clock.h"

#ifdef SMALL
#define WIDTH 48
#define HEIGHT 32
#define ITERATIONS 20
#else
#define WIDTH 1920
#define HEIGHT 1080
#define ITERATIONS 100
#endif

struct view {
    float left, top, step;
};

static void mandelbrot(struct view view, unsigned short image[HEIGHT][WIDTH])
{
#pragma scop
    for (int py = 0; py < HEIGHT; py++) {
        for (int px = 0; px < WIDTH; px++) {
            float cr = view.left + px * view.step, ci = view.top + py * view.step;
            float zr = 0.0f, zi = 0.0f;
            int inside = 0;

            for (int k = 0; k < ITERATIONS; k++) {
                float rr = zr * zr, ii = zi * zi;

                if (rr + ii < 4.0f)
                    inside++;
                zi = 2.0f * zr * zi + ci;
                zr = rr - ii + cr;
            }
            image[py][px] = (unsigned short)inside;
        }
    }
#pragma endscop
}

int main(void)
{
    unsigned short (*image)[WIDTH] = memory(HEIGHT, sizeof *image);
    struct view view = {-2.0f, -1.2f, 2.4f / HEIGHT};
    unsigned long sum = 0;

    clock_start();
    mandelbrot(view, image);
    clock_stop();
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            sum = sum * 31 + image[y][x];
    printf("%lu\n", sum);
    free(image);
    return 0;
}
