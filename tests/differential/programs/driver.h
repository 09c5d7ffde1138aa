/* What the programs of this folder need to run: reproducible inputs and whole results on stdout. */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* for (each of the sizes, as n) */
#define FOR_SIZES(n, ...)                                                                            \
    for (int n##_k = 0, n; n##_k < (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))                 \
                           && ((n = ((int[]){__VA_ARGS__})[n##_k]), 1); n##_k++)

static unsigned driver_state = 1;

static inline unsigned driver_next(void)
{
    driver_state = driver_state * 1664525u + 1013904223u;
    return driver_state >> 8;
}

/* Exactly as many bytes as asked for, so that a sanitizer sees what is next to them. */
static inline void *driver_alloc(size_t count, size_t size)
{
    void *block = malloc(count == 0 ? 1 : count * size);
    if (!block)
        exit(2);
    return block;
}

#define DRIVER_TYPE(type, name, value, format)                                                       \
    static inline type *new_##name(size_t count)                                                     \
    {                                                                                                \
        type *block = driver_alloc(count, sizeof(type));                                             \
        for (size_t k = 0; k < count; k++)                                                           \
            block[k] = (type)(value);                                                                \
        return block;                                                                                \
    }                                                                                                \
    static inline void dump_##name(const char *what, const void *from, size_t count)                 \
    {                                                                                                \
        const type *block = from;                                                                    \
        unsigned long long hash = 14695981039346656037ull;                                           \
        for (size_t k = 0; k < count * sizeof(type); k++)                                            \
            hash = (hash ^ ((const unsigned char *)from)[k]) * 1099511628211ull;                     \
        printf("%s %zu %016llx", what, count, hash);                                                 \
        for (size_t k = 0; k < count && k < 64; k++)                                                 \
            printf(" " format, block[k]);                                                            \
        printf("\n");                                                                                \
    }

DRIVER_TYPE(double, double, driver_next() % 20000u / 8192.0 - 1.0, "%.17g")
DRIVER_TYPE(float, float, driver_next() % 20000u / 8192.0f - 1.0f, "%.9g")
DRIVER_TYPE(int, int, (int)(driver_next() % 201u) - 100, "%d")
DRIVER_TYPE(unsigned, unsigned, driver_next() * 977u, "%u")
DRIVER_TYPE(unsigned char, byte, driver_next() % 256u, "%d")
DRIVER_TYPE(long long, long, (long long)driver_next() * driver_next(), "%lld")

#endif
