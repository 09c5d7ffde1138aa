/* Runs the convolution on a made-up image, times it, and writes the result to a file.
     conv RESULT [RUNS]
   Prints one line `ms TIME` a run, and a checksum of the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conv.h"

static float image[H][W];
static float window[KH][KW];
static float result[H][W];

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Between 0 and 1, from a small generator, so that every machine sees the same image. */
static float random_value(void)
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1u << 24);
}

static void fill(void)
{
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            image[h][w] = random_value();
    for (int kh = 0; kh < KH; kh++)
        for (int kw = 0; kw < KW; kw++)
            window[kh][kw] = random_value() - 0.5f;
    memset(result, 0, sizeof result); /* touches the pages before anything is timed */
}

/* FNV-1a over the bits of the values: two results with one checksum are the same bit for bit. */
static unsigned long long checksum(void)
{
    unsigned long long sum = 0xcbf29ce484222325ull;
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++) {
            unsigned bits;
            memcpy(&bits, &result[h][w], sizeof bits);
            sum = (sum ^ bits) * 0x100000001b3ull;
        }
    return sum;
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[2]) : 5;
    if (argc < 2 || argc > 3 || runs < 1) {
        fprintf(stderr, "usage: %s RESULT [RUNS]\n", argv[0]);
        return 2;
    }
    fill();
    convolve(image, window, result); /* not timed: touches the remaining pages and starts the threads */
    for (int run = 0; run < runs; run++) {
        double start = now_ms();
        convolve(image, window, result);
        printf("ms %.2f\n", now_ms() - start);
    }
    printf("checksum %016llx\n", checksum());

    FILE *file = fopen(argv[1], "wb");
    if (file == NULL || fwrite(result, sizeof result, 1, file) != 1 || fclose(file) != 0) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
