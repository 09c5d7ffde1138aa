/*
 * What this machine can do with OMP_NUM_THREADS threads, in under a second:
 *
 *   flops float R     multiply-adds in registers, two operations each, in operations per second
 *   flops double R
 *   bytes SIZE R      traffic on a working set of SIZE bytes, shared by all threads, in bytes per second: the better of
 *                     reading it all and of copying one half to the other
 *
 * Each is the best of several short runs: a limit, not an average.
 */
#define _POSIX_C_SOURCE 200809L

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define CHAINS 12 /* independent sums: more than a multiply-add's latency times its issue rate */
#define REPEATS 25 /* of a millisecond or a few each, so that one of them is not interrupted */

typedef float floats __attribute__((vector_size(WIDTH)));
typedef double doubles __attribute__((vector_size(WIDTH)));

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static volatile double sink;

#define PEAK(name, vector, scalar)                                                             \
    static double name(void)                                                                   \
    {                                                                                          \
        const long steps = 400000;                                                             \
        double best = 0.0;                                                                     \
                                                                                               \
        for (int repeat = 0; repeat < REPEATS; repeat++) {                                     \
            double seconds = 0.0;                                                              \
            int threads = 1;                                                                   \
                                                                                               \
            _Pragma("omp parallel reduction(max : seconds)")                                   \
            {                                                                                  \
                vector sum[CHAINS];                                                            \
                vector a = {0}, b = {0};                                                       \
                double start;                                                                  \
                                                                                               \
                _Pragma("omp single") threads = omp_get_num_threads();                         \
                a += (scalar)0.999;                                                            \
                b += (scalar)0.001;                                                            \
                for (int c = 0; c < CHAINS; c++)                                               \
                    sum[c] = a * (scalar)c;                                                    \
                _Pragma("omp barrier") start = now();                                          \
                for (long i = 0; i < steps; i++)                                               \
                    _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++)                  \
                        sum[c] = sum[c] * a + b;                                               \
                seconds = now() - start;                                                       \
                for (int c = 1; c < CHAINS; c++)                                               \
                    sum[0] += sum[c];                                                          \
                sink = (double)sum[0][0];                                                      \
            }                                                                                  \
            double rate = 2.0 * CHAINS * (WIDTH / sizeof(scalar)) * steps * threads / seconds; \
            best = rate > best ? rate : best;                                                  \
        }                                                                                      \
        return best;                                                                           \
    }

PEAK(peak_float, floats, float)
PEAK(peak_double, doubles, double)

/* The sum of count vectors, in CHAINS chains. */
static double read_all(const doubles *p, size_t count)
{
    doubles sum[CHAINS] = {{0}};
    size_t i = 0;

    for (; i + CHAINS <= count; i += CHAINS)
        _Pragma("GCC unroll 12") for (int c = 0; c < CHAINS; c++)
            sum[c] += p[i + (size_t)c];
    for (int c = 1; c < CHAINS; c++)
        sum[0] += sum[c];
    return sum[0][0];
}

static double bandwidth(char *block, size_t size)
{
    double best = 0.0;

    for (int copying = 0; copying < 2; copying++)
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            double seconds = 0.0;
            size_t times = ((size_t)32 << 20) / size + 1, moved = 0;

#pragma omp parallel reduction(max : seconds) reduction(+ : moved)
            {
                size_t share = size / (size_t)omp_get_num_threads() / 128 * 128;
                char *mine = block + share * (size_t)omp_get_thread_num();
                double start;

                memset(mine, 0, share);
#pragma omp barrier
                start = now();
                for (size_t t = 0; t < times; t++)
                    if (copying)
                        memcpy(mine + (t & 1 ? 0 : share / 2), mine + (t & 1 ? share / 2 : 0), share / 2);
                    else
                        sink = read_all((const doubles *)mine, share / sizeof(doubles));
                seconds = now() - start;
                moved = share * times;
            }
            best = (double)moved / seconds > best ? (double)moved / seconds : best;
        }
    return best;
}

int main(void)
{
    const size_t largest = (size_t)256 << 20;
    char *block = aligned_alloc(4096, largest);

    if (block == NULL)
        return 2;
    printf("flops float %.6e\nflops double %.6e\n", peak_float(), peak_double());
    for (size_t size = (size_t)64 << 10; size <= largest; size *= 4)
        printf("bytes %zu %.6e\n", size, bandwidth(block, size));
    free(block);
    return 0;
}
