/* See harness.h.  Compile with -DDUMP, -DTIME or neither. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "harness.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *bench_alloc(size_t count, size_t size)
{
    const size_t align = 64;
    size_t bytes;
    void *block;

    if (size != 0 && count > (SIZE_MAX - align) / size) {
        fprintf(stderr, "bench_alloc: %zu * %zu bytes is too much\n", count, size);
        exit(2);
    }
    bytes = (count * size + align - 1) / align * align;
    if (bytes == 0)
        bytes = align;
    block = aligned_alloc(align, bytes);
    if (block == NULL) {
        fprintf(stderr, "bench_alloc: no %zu bytes left\n", bytes);
        exit(2);
    }
    memset(block, 0x40, bytes);
    return block;
}

void bench_free(void *block)
{
    free(block);
}

/* The index-th number of a seed's sequence (the splitmix64 generator). */
static uint64_t noise(unsigned seed, size_t index)
{
    uint64_t z = ((uint64_t)seed << 40) + (uint64_t)index + 1;

    z *= UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void bench_fill_double(void *dst, size_t count, unsigned seed, double lo, double hi)
{
    double *p = dst;

    for (size_t i = 0; i < count; i++)
        p[i] = lo + (hi - lo) * ((double)(noise(seed, i) >> 11) * 0x1p-53);
}

void bench_fill_float(void *dst, size_t count, unsigned seed, float lo, float hi)
{
    float *p = dst;

    for (size_t i = 0; i < count; i++)
        p[i] = lo + (hi - lo) * ((float)(noise(seed, i) >> 40) * 0x1p-24f);
}

static int between(uint64_t bits, int lo, int hi)
{
    return lo + (int)((bits >> 32) % (uint64_t)(hi - lo + 1));
}

void bench_fill_int(void *dst, size_t count, unsigned seed, int lo, int hi)
{
    int *p = dst;

    for (size_t i = 0; i < count; i++)
        p[i] = between(noise(seed, i), lo, hi);
}

void bench_fill_char(void *dst, size_t count, unsigned seed, int lo, int hi)
{
    char *p = dst;

    for (size_t i = 0; i < count; i++)
        p[i] = (char)between(noise(seed, i), lo, hi);
}

#ifdef TIME
static struct timespec started;

void bench_start(void)
{
    clock_gettime(CLOCK_MONOTONIC, &started);
}

void bench_stop(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%.9f\n", (double)(now.tv_sec - started.tv_sec)
                         + (double)(now.tv_nsec - started.tv_nsec) * 1e-9);
}
#else
void bench_start(void)
{
}

void bench_stop(void)
{
}
#endif

#ifdef DUMP
#define DUMP_ARRAY(type, format)                                          \
    const type *p = src;                                                  \
                                                                          \
    printf("array %s %zu %zu\n", name, rows, cols);                       \
    for (size_t i = 0; i < rows; i++)                                     \
        for (size_t j = 0; j < cols; j++)                                 \
            printf(format "%c", p[i * cols + j], j + 1 < cols ? ' ' : '\n')
#else
#define DUMP_ARRAY(type, format) (void)name, (void)src, (void)rows, (void)cols
#endif

void bench_dump_double(const char *name, const void *src, size_t rows, size_t cols)
{
    DUMP_ARRAY(double, "%.17g");
}

void bench_dump_float(const char *name, const void *src, size_t rows, size_t cols)
{
    DUMP_ARRAY(float, "%.9g");
}

void bench_dump_int(const char *name, const void *src, size_t rows, size_t cols)
{
    DUMP_ARRAY(int, "%d");
}
