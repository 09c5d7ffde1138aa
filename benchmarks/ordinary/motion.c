/*
 * Motion estimation of a video encoder: for each block of 16 x 16 pixels the shift into the last frame, at most REACH
 * pixels each way, with the smallest sum of absolute differences.
 */
#include "clock.h"

#define BLOCK 16
#define REACH 8
#ifdef SMALL
#define ROWS 3
#define COLS 4
#else
#define ROWS 40
#define COLS 60
#endif
#define HEIGHT (ROWS * BLOCK)
#define WIDTH (COLS * BLOCK)

typedef struct {
    int dy, dx, sad;
} vector;

/* The last frame has a border of REACH pixels. */
static void estimate(const unsigned char frame[HEIGHT][WIDTH],
                     const unsigned char last[HEIGHT + 2 * REACH][WIDTH + 2 * REACH], vector motion[ROWS][COLS])
{
#pragma scop
    for (int by = 0; by < ROWS; by++)
        for (int bx = 0; bx < COLS; bx++) {
            int best = 1 << 30, best_dy = 0, best_dx = 0;

            for (int dy = 0; dy <= 2 * REACH; dy++)
                for (int dx = 0; dx <= 2 * REACH; dx++) {
                    int sad = 0;

                    for (int y = 0; y < BLOCK; y++)
                        for (int x = 0; x < BLOCK; x++)
                            sad += abs(frame[by * BLOCK + y][bx * BLOCK + x]
                                       - last[by * BLOCK + y + dy][bx * BLOCK + x + dx]);
                    if (sad < best) {
                        best = sad;
                        best_dy = dy - REACH;
                        best_dx = dx - REACH;
                    }
                }
            motion[by][bx].dy = best_dy;
            motion[by][bx].dx = best_dx;
            motion[by][bx].sad = best;
        }
#pragma endscop
}

int main(void)
{
    unsigned char (*frame)[WIDTH] = memory(HEIGHT, sizeof *frame);
    unsigned char (*last)[WIDTH + 2 * REACH] = memory(HEIGHT + 2 * REACH, sizeof *last);
    vector (*motion)[COLS] = memory(ROWS, sizeof *motion);
    unsigned long sum = 0;

    for (int y = 0; y < HEIGHT + 2 * REACH; y++)
        for (int x = 0; x < WIDTH + 2 * REACH; x++)
            last[y][x] = (unsigned char)((y * y / 64 + x * y / 32 + (int)(40.0 * noise())) & 255);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            frame[y][x] = (unsigned char)(last[y + (y / 64) % 16][x + (x / 48) % 16] ^ (noise() < 0.1));
    clock_start();
    estimate(frame, last, motion);
    clock_stop();
    for (int by = 0; by < ROWS; by++)
        for (int bx = 0; bx < COLS; bx++)
            sum = sum * 31 + (unsigned long)(motion[by][bx].dy * 1000 + motion[by][bx].dx * 100 + motion[by][bx].sad);
    printf("%lu\n", sum);
    free(motion);
    free(last);
    free(frame);
    return 0;
}
