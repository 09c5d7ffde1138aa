/* What the ordinary programs share: the time of a kernel on stderr, input that is the same in each run, and memory. */
#ifndef POLYC_BENCH_CLOCK_H
#define POLYC_BENCH_CLOCK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct timespec clock_wall, clock_cpu;

static void clock_start(void)
{
    clock_gettime(CLOCK_MONOTONIC, &clock_wall);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &clock_cpu);
}

static double clock_since(struct timespec then, struct timespec now)
{
    return 1e3 * (double)(now.tv_sec - then.tv_sec) + 1e-6 * (double)(now.tv_nsec - then.tv_nsec);
}

/* Prints the milliseconds since clock_start: wall clock, and CPU time of all threads. */
static void clock_stop(void)
{
    struct timespec wall, cpu;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    clock_gettime(CLOCK_MONOTONIC, &wall);
    fprintf(stderr, "%.3f %.3f\n", clock_since(clock_wall, wall), clock_since(clock_cpu, cpu));
}

/* The next number of a sequence, in [0, 1). */
static inline double noise(void)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

/* Memory whose pages are there before the clock starts. */
static inline void *memory(size_t count, size_t size)
{
    void *block = malloc(count * size);

    if (block == NULL)
        exit(EXIT_FAILURE);
    return memset(block, 1, count * size);
}

#endif
