/* What declarations say: tables as long as their initialisers, functions that only compute a value, pointers to
   functions, structs of numbers behind pointers in structs, and sizes of 32 bits without a sign. */
#include <stdio.h>

typedef struct { double re, im; } complex_number;
typedef struct { unsigned size; complex_number *at; } signal;

static float weights[] = {0.25f, 0.5f, 1.0f, 0.75f};
static const int steps[][2] = {{1, 2}, {3, 4}, {5, 6}};
static double halved(double x) __attribute__((const));
static int (*chosen[])(double) = {NULL, NULL};
static complex_number one[3000], two[3000];
static float sums[4000];
static int counts[4000];
static unsigned short narrow[4096], wide[4096];

static double halved(double x)
{
    volatile double both = x; /* so that nobody looks into it */
    return both / 2;
}

static void weighted(int n, float *a)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            a[i] += weights[k] * i;
}

static void counted(int n, int *a)
{
    const int own[] = {1, 2, 1};
    for (int i = 1; i < n - 1; i++)
        for (int k = 0; k < 3; k++)
            a[i] += own[k] * steps[k][1];
}

static void copied(signal *to, const complex_number *from)
{
    for (unsigned j = 0; j < to->size; j++)
        to->at[j] = from[j];
    for (unsigned j = 0; j < to->size; j++)
        to->at[j].im = halved(to->at[j].re);
}

static void halves(int n, unsigned order, unsigned short *restrict a, const unsigned short *restrict b)
{
    if (chosen[n & 1] == NULL)
        for (unsigned i = 0; i < (1u << order); i++)
            a[i] = b[i] + 3;
}

int main(void)
{
    signal all = {3000, one};
    for (int i = 0; i < 3000; i++) {
        two[i].re = i * 7 % 23;
        two[i].im = i % 5;
    }
    for (int i = 0; i < 4096; i++)
        wide[i] = i * 31;
    weighted(4000, sums);
    counted(4000, counts);
    copied(&all, two);
    halves(3, 12, narrow, wide);
    for (int i = 0; i < 3000; i += 217)
        printf("%g %d %g %g %d\n", sums[i], counts[i], one[i].re, one[i].im, narrow[i]);
    return 0;
}
