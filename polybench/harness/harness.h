/*
 * The small runtime that every kernel of this directory is linked with.
 *
 * What it does is chosen when harness.c is compiled, not when a kernel is:
 *
 *   -DDUMP   bench_dump_*() print the arrays on stdout
 *   -DTIME   bench_stop() prints the seconds since bench_start() on stdout
 *
 * With neither, a program computes and says nothing.  A kernel's own object
 * file is the same in all three cases, so the code that is timed is the code
 * whose results were compared.
 */
#ifndef POLYC_BENCH_HARNESS_H
#define POLYC_BENCH_HARNESS_H

#include <stddef.h>

/* -Wall would otherwise complain about "#pragma scop". */
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

/* One of five values, by the data set asked for on the command line. */
#if defined(MINI_DATASET)
#define SIZE(mini, small, medium, large, extralarge) (mini)
#elif defined(SMALL_DATASET)
#define SIZE(mini, small, medium, large, extralarge) (small)
#elif defined(MEDIUM_DATASET)
#define SIZE(mini, small, medium, large, extralarge) (medium)
#elif defined(EXTRALARGE_DATASET)
#define SIZE(mini, small, medium, large, extralarge) (extralarge)
#else /* LARGE_DATASET, the default */
#define SIZE(mini, small, medium, large, extralarge) (large)
#endif

/*
 * The element type of all kernels but deriche (float), floyd-warshall and
 * nussinov (integers): double, or float with -DDATA_TYPE_IS_FLOAT.  REAL()
 * gives a constant that type, so that no arithmetic is done in double.
 */
#ifdef DATA_TYPE_IS_FLOAT
#define DATA_TYPE float
#define REAL(constant) constant##f
#define SQRT(value) sqrtf(value)
#define bench_fill_data bench_fill_float
#define bench_dump_data bench_dump_float
#else
#define DATA_TYPE double
#define REAL(constant) constant
#define SQRT(value) sqrt(value)
#define bench_fill_data bench_fill_double
#define bench_dump_data bench_dump_double
#endif

/*
 * count * size bytes on a 64-byte boundary; ends the program when there are
 * none.  Every byte is set to 0x40 (a double reads 32.5, a float 3.0, an int
 * 1077952576): the pages are present when the clock starts, and a kernel that
 * forgets to set a result to zero first is found out.
 */
void *bench_alloc(size_t count, size_t size);
void bench_free(void *block);

/*
 * Fill with reproducible noise: uniform over [lo, hi), for integers over
 * lo..hi.  Different seeds give unrelated sequences.
 */
void bench_fill_double(void *dst, size_t count, unsigned seed, double lo, double hi);
void bench_fill_float(void *dst, size_t count, unsigned seed, float lo, float hi);
void bench_fill_int(void *dst, size_t count, unsigned seed, int lo, int hi);
void bench_fill_char(void *dst, size_t count, unsigned seed, int lo, int hi);

void bench_start(void);
void bench_stop(void);

/*
 * "array NAME ROWS COLS", then a line a row; every number is written with as
 * many digits as bring back the same bits.
 */
void bench_dump_double(const char *name, const void *src, size_t rows, size_t cols);
void bench_dump_float(const char *name, const void *src, size_t rows, size_t cols);
void bench_dump_int(const char *name, const void *src, size_t rows, size_t cols);

#endif
