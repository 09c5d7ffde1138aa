/*
 * The colours of a sensor whose pixels see one of them each: what a pixel lacks is the mean of its neighbours; then a
 * colour matrix, and bytes.
 */
#include "clock.h"

#ifdef SMALL
#define WIDTH 66
#define HEIGHT 35
#else
#define WIDTH 1536
#define HEIGHT 1024
#endif
#define SHOTS 10

static uint16_t raw[HEIGHT][WIDTH];
static uint8_t rgb[HEIGHT][WIDTH][3];
static const int matrix[3][3] = {{410, -120, -34}, {-60, 380, -64}, {-10, -130, 396}};

static inline int clamped(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static void develop(void)
{
#pragma scop
    for (int y = 1; y < HEIGHT - 1; y++)
        for (int x = 1; x < WIDTH - 1; x++) {
            int r, g, b;
            int cross = (raw[y - 1][x] + raw[y + 1][x] + raw[y][x - 1] + raw[y][x + 1] + 2) >> 2;
            int diagonal = (raw[y - 1][x - 1] + raw[y - 1][x + 1] + raw[y + 1][x - 1] + raw[y + 1][x + 1] + 2) >> 2;
            int row = (raw[y][x - 1] + raw[y][x + 1] + 1) >> 1;
            int column = (raw[y - 1][x] + raw[y + 1][x] + 1) >> 1;

            if ((y & 1) == 0) {
                if ((x & 1) == 0) {
                    r = raw[y][x];
                    g = cross;
                    b = diagonal;
                } else {
                    r = row;
                    g = raw[y][x];
                    b = column;
                }
            } else {
                if ((x & 1) == 0) {
                    r = column;
                    g = raw[y][x];
                    b = row;
                } else {
                    r = diagonal;
                    g = cross;
                    b = raw[y][x];
                }
            }
            for (int c = 0; c < 3; c++) {
                int v = (matrix[c][0] * r + matrix[c][1] * g + matrix[c][2] * b + 2048) >> 12;

                rgb[y][x][c] = (uint8_t)clamped(v, 0, 255);
            }
        }
#pragma endscop
}

int main(void)
{
    unsigned long sum = 0;

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            raw[y][x] = (uint16_t)(4096 * noise());
    clock_start();
    for (int shot = 0; shot < SHOTS; shot++) {
        develop();
        raw[shot][shot] ^= 5;
    }
    clock_stop();
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++)
                sum = sum * 31 + rgb[y][x][c];
    printf("%lu\n", sum);
    return 0;
}
