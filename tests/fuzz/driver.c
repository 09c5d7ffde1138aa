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

static int compare(const struct program *p, const char *built, int run, int a, void *original, void *result, long count)
{
    char type = p->types[a];
    size_t size = size_of(type);
    for (long k = 0; k < count; k++) {
        double x = value(original, type, k), y = value(result, type, k);
        if (memcmp((char *)original + k * size, (char *)result + k * size, size) && !(isnan(x) && isnan(y))) {
            printf("differs %d %s, run %d, %s, element %ld of %ld: original %.17g, result %.17g\n", p->number, built,
                   run, p->names[a], k, count, x, y);
            return 1;
        }
    }
    return 0;
}

static int starving; /* whether the heap is empty for what polyc printed */

void *fuzz_malloc(size_t bytes);
void *fuzz_malloc(size_t bytes)
{
    return starving ? NULL : malloc(bytes);
}

enum { MOST = 32, ORIGINAL = 0, RESULT = 1 };
static const char *const roles[] = { "original", "result", "other" };

/* Memory for the arrays of a run: those with one home in one block, filled with the same numbers each time. */
static void allocate(const struct program *p, int run, void **blocks, void **data)
{
    const long *counts = p->counts + run * p->arrays, *homes = p->homes + run * p->arrays;
    const long *starts = p->starts + run * p->arrays;
    size_t bytes[MOST] = { 0 };
    state = p->number * 977 + run;
    for (int a = 0; a < p->arrays; a++) {
        size_t end = (starts[a] + counts[a]) * size_of(p->types[a]);
        if (end > bytes[homes[a]])
            bytes[homes[a]] = end;
    }
    for (int a = 0; a < p->arrays; a++)
        blocks[a] = homes[a] == a ? malloc(bytes[a]) : NULL;
    for (int a = 0; a < p->arrays; a++) {
        data[a] = (char *)blocks[homes[a]] + starts[a] * size_of(p->types[a]);
        fill(data[a], p->types[a], counts[a]);
    }
}

static void release(const struct program *p, void **blocks)
{
    for (int a = 0; a < p->arrays; a++)
        free(blocks[a]);
}

static void call(const struct program *p, int run, int role, void **data)
{
    printf("%s %d\n", roles[role], p->number);
    fflush(stdout);
    starving = role != ORIGINAL && p->starved[run];
    for (long k = 0; k < p->calls[run]; k++)
        (role == ORIGINAL ? p->original : p->result[role - RESULT])(p->values + run * p->parameters, data);
    starving = 0;
}

static void run_program(const struct program *p)
{
    int differences = 0;
    long finite = 0, all = 0;
    for (int run = 0; run < p->runs; run++) {
        void *blocks[MOST], *original[MOST], *others[MOST], *result[MOST];
        const long *counts = p->counts + run * p->arrays;
        allocate(p, run, blocks, original);
        call(p, run, ORIGINAL, original);
        for (int role = RESULT; role < RESULT + p->results; role++) {
            allocate(p, run, others, result);
            call(p, run, role, result);
            for (int a = 0; a < p->arrays; a++)
                if (p->compared[a])
                    differences += compare(p, roles[role], run, a, original[a], result[a], counts[a]);
            release(p, others);
        }
        for (int a = 0; a < p->arrays; a++)
            for (long k = 0; k < counts[a]; k++, all++)
                finite += isfinite(value(original[a], p->types[a], k));
        release(p, blocks);
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
