/*
 * A box blur by running sums, whatever the radius: along the rows into a buffer, then down the columns with one sum for
 * each; the border is repeated. Three passes look like a Gaussian.
 */
#include "clock.h"

#ifdef SMALL
#define WIDTH 50
#define HEIGHT 31
#define RADIUS 3
#else
#define WIDTH 2560
#define HEIGHT 1440
#define RADIUS 9
#endif
#define PASSES 3

static unsigned char image[HEIGHT][WIDTH], buffer[HEIGHT][WIDTH];
static int sums[WIDTH];

static void blur(int radius)
{
    const int window = 2 * radius + 1;

#pragma scop
    for (int pass = 0; pass < PASSES; pass++) {
        for (int y = 0; y < HEIGHT; y++) {
            int sum = (radius + 1) * image[y][0];

            for (int x = 0; x < radius; x++)
                sum += image[y][x];
            for (int x = 0; x < WIDTH; x++) {
                int enters = x + radius < WIDTH ? x + radius : WIDTH - 1;
                int leaves = x - radius - 1 > 0 ? x - radius - 1 : 0;

                sum += image[y][enters] - image[y][leaves];
                buffer[y][x] = (unsigned char)((sum + radius) / window);
            }
        }
        for (int x = 0; x < WIDTH; x++) {
            sums[x] = (radius + 1) * buffer[0][x];
            for (int y = 0; y < radius; y++)
                sums[x] += buffer[y][x];
        }
        for (int y = 0; y < HEIGHT; y++) {
            int enters = y + radius < HEIGHT ? y + radius : HEIGHT - 1;
            int leaves = y - radius - 1 > 0 ? y - radius - 1 : 0;

            for (int x = 0; x < WIDTH; x++) {
                sums[x] += buffer[enters][x] - buffer[leaves][x];
                image[y][x] = (unsigned char)((sums[x] + radius) / window);
            }
        }
    }
#pragma endscop
}

int main(void)
{
    unsigned long sum = 0;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            image[y][x] = (unsigned char)(noise() < 0.5 ? (x ^ y) & 255 : 256.0 * noise());
            buffer[y][x] = 1;
        }
    clock_start();
    blur(RADIUS);
    clock_stop();
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            sum = sum * 31 + image[y][x];
    printf("%lu\n", sum);
    return 0;
}
