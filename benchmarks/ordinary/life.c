/* Conway's game of life on a torus, a byte a cell; two boards that change places after each generation. */
#include "clock.h"

#ifdef SMALL
#define ROWS 24
#define COLS 37
#define GENERATIONS 7
#else
#define ROWS 768
#define COLS 1024
#define GENERATIONS 24
#endif

static unsigned char *life(int rows, int cols, int generations, unsigned char *now, unsigned char *next)
{
#pragma scop
    for (int g = 0; g < generations; g++) {
        for (int y = 0; y < rows; y++) {
            int up = (y + rows - 1) % rows, down = (y + 1) % rows;

            for (int x = 0; x < cols; x++) {
                int left = (x + cols - 1) % cols, right = (x + 1) % cols;
                int alive = now[up * cols + left] + now[up * cols + x] + now[up * cols + right]
                            + now[y * cols + left] + now[y * cols + right]
                            + now[down * cols + left] + now[down * cols + x] + now[down * cols + right];

                next[y * cols + x] = alive == 3 || (alive == 2 && now[y * cols + x]);
            }
        }
        unsigned char *last = now;
        now = next;
        next = last;
    }
#pragma endscop
    return now;
}

int main(void)
{
    unsigned char *a = memory(ROWS * COLS, 1), *b = memory(ROWS * COLS, 1), *board;
    unsigned long sum = 0;

    for (int i = 0; i < ROWS * COLS; i++)
        a[i] = noise() < 0.35;
    clock_start();
    board = life(ROWS, COLS, GENERATIONS, a, b);
    clock_stop();
    for (int i = 0; i < ROWS * COLS; i++)
        sum = sum * 31 + board[i];
    printf("%lu\n", sum);
    free(b);
    free(a);
    return 0;
}
