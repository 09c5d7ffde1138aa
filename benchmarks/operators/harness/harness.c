/* For measure.py: inputs, differences, and how fast this machine copies. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The index-th number of a seed's sequence, in [0, 1) (the splitmix64 generator). */
static double noise(unsigned seed, size_t index)
{
    uint64_t z = ((uint64_t)seed << 40) + (uint64_t)index + 1;

    z *= UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#define FILL(type, value)                                                                                             \
    void fill_##type(type *to, size_t count, unsigned seed, double range)                                             \
    {                                                                                                                 \
        for (size_t i = 0; i < count; i++) {                                                                          \
            double x = noise(seed, i);                                                                                \
            (void)range;                                                                                              \
            to[i] = (type)(value);                                                                                    \
        }                                                                                                             \
    }
FILL(float, (2.0 * x - 1.0) * range)
FILL(double, (2.0 * x - 1.0) * range)
FILL(int, x < 0.5)

/* The largest difference, by the largest value of what is right; infinite where one of them is no number. */
#define DIFFERENCE(type)                                                                                              \
    double difference_##type(const type *found, const type *right, size_t count)                                      \
    {                                                                                                                 \
        double most = 0.0, largest = 1e-30;                                                                           \
                                                                                                                      \
        for (size_t i = 0; i < count; i++) {                                                                          \
            double off = fabs((double)found[i] - (double)right[i]), size = fabs((double)right[i]);                    \
                                                                                                                      \
            if (!(off <= most))                                                                                       \
                most = off == off ? off : INFINITY;                                                                   \
            if (size > largest)                                                                                       \
                largest = size;                                                                                       \
        }                                                                                                             \
        return most / largest;                                                                                        \
    }
DIFFERENCE(float)
DIFFERENCE(double)
DIFFERENCE(int)

/* A copy by all threads, each with a part of its own. */
void copy_bytes(char *to, const char *from, size_t count)
{
    const size_t part = 1 << 20;

#pragma omp parallel for schedule(static)
    for (size_t start = 0; start < count; start += part)
        memcpy(to + start, from + start, count - start < part ? count - start : part);
}
