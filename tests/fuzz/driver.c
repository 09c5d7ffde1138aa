/* Runs programs, original and result, on the same data and compares every byte that counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "driver.h"

#ifndef LIMIT_SECONDS
#define LIMIT_SECONDS 30 /* for a program */
#endif

static unsigned long state;

static unsigned next(void)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return state >> 40;
}

static size_t size_of(char type)
{
    switch (type) {
    case 'd': return sizeof(double);
    case 'f': return sizeof(float);
    case 's': return sizeof(short);
    case 'b': return 1;
    case 'l': return sizeof(long);
    default: return sizeof(int);
    }
}

static void fill(void *at, char type, long count)
{
    for (long k = 0; k < count; k++) {
        unsigned r = next();
        switch (type) {
        case 'd': ((double *)at)[k] = (r % 1999) / 997.0 - 1; break;
        case 'f': ((float *)at)[k] = (r % 1999) / 997.0f - 1; break;
        case 's': ((short *)at)[k] = r % 201 - 100; break;
        case 'b': ((unsigned char *)at)[k] = r; break;
        case 'l': ((long *)at)[k] = (long)(r % 201) - 100; break;
        case 'u': ((unsigned *)at)[k] = r; break;
        case 'x': ((int *)at)[k] = r % 5; break; /* a subscript */
        default: ((int *)at)[k] = (int)(r % 201) - 100;
        }
    }
}

static double value(const void *at, char type, long k)
{
    switch (type) {
    case 'd': return ((const double *)at)[k];
    case 'f': return ((const float *)at)[k];
    case 's': return ((const short *)at)[k];
    case 'b': return ((const unsigned char *)at)[k];
    case 'l': return ((const long *)at)[k];
    case 'u': return ((const unsigned *)at)[k];
    default: return ((const int *)at)[k];
    }
}

static int compare(const struct program *p, int run, int a, void *original, void *result, long count)
{
    char type = p->types[a];
    size_t size = size_of(type);
    for (long k = 0; k < count; k++) {
        double x = value(original, type, k), y = value(result, type, k);
        if (memcmp((char *)original + k * size, (char *)result + k * size, size) && !(isnan(x) && isnan(y))) {
            printf("differs %d run %d, %s, element %ld of %ld: original %.17g, result %.17g\n", p->number, run,
                   p->names[a], k, count, x, y);
            return 1;
        }
    }
    return 0;
}

static void run_program(const struct program *p)
{
    int differences = 0;
    long finite = 0, all = 0;
    for (int run = 0; run < p->runs; run++) {
        void *original[32], *result[32];
        state = p->number * 977 + run;
        for (int a = 0; a < p->arrays; a++) {
            long count = p->counts[run * p->arrays + a];
            size_t bytes = count * size_of(p->types[a]);
            original[a] = malloc(bytes), result[a] = malloc(bytes);
            fill(original[a], p->types[a], count);
            memcpy(result[a], original[a], bytes);
        }
        printf("original %d\n", p->number);
        fflush(stdout);
        p->original(p->values + run * p->parameters, original);
        printf("result %d\n", p->number);
        fflush(stdout);
        p->result(p->values + run * p->parameters, result);
        for (int a = 0; a < p->arrays; a++) {
            long count = p->counts[run * p->arrays + a];
            if (p->compared[a])
                differences += compare(p, run, a, original[a], result[a], count);
            for (long k = 0; k < count; k++, all++)
                finite += isfinite(value(original[a], p->types[a], k));
            free(original[a]), free(result[a]);
        }
    }
    printf("done %d %d %d\n", p->number, differences, finite == all);
    fflush(stdout);
}

int main(int count, char **words)
{
    for (int k = count > 1 ? atoi(words[1]) : 0; k < program_count; k++) {
        alarm(LIMIT_SECONDS);
        run_program(&programs[k]);
    }
    return 0;
}
