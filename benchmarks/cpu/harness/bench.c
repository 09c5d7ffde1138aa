/*
 * The runtime of polybench/harness/harness.h for timed runs: the kernel's own main, compiled with
 * -Dmain=bench_kernel_main, is called several times in one process. Each call allocates and fills the arrays anew, so
 * that every run computes the same values.
 *
 *   BENCH_RUNS    at most so many runs (1)
 *   BENCH_ENOUGH  no further run once the runs so far took so many seconds together (1.0)
 *   BENCH_DUMP    the file for the live-out arrays of the last run: "array NAME TYPE ROWS COLS\n", then the bytes
 *
 * On stdout: the seconds of each run between bench_start() and bench_stop(), one a line.
 */

/* Memory and initial values are those of polybench's own harness; the clock and the dumps are not. */
#define bench_start plain_start
#define bench_stop plain_stop
#define bench_dump_double plain_dump_double
#define bench_dump_float plain_dump_float
#define bench_dump_int plain_dump_int
#include "harness.c"
#undef bench_start
#undef bench_stop
#undef bench_dump_double
#undef bench_dump_float
#undef bench_dump_int

#include <time.h>

int bench_kernel_main(void);
void bench_start(void);
void bench_stop(void);
void bench_dump_double(const char *name, const void *src, size_t rows, size_t cols);
void bench_dump_float(const char *name, const void *src, size_t rows, size_t cols);
void bench_dump_int(const char *name, const void *src, size_t rows, size_t cols);

static struct timespec begun;
static double total;
static double enough;
static int runs_left;
static FILE *dump;

static double setting(const char *name, double otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? atof(text) : otherwise;
}

int main(void)
{
    const char *path = getenv("BENCH_DUMP");

    runs_left = (int)setting("BENCH_RUNS", 1);
    enough = setting("BENCH_ENOUGH", 1.0);
    if (path != NULL && (dump = fopen(path, "wb")) == NULL) {
        perror(path);
        return 2;
    }
    while (runs_left > 0)
        if (bench_kernel_main() != 0)
            return 1;
    return dump != NULL && fclose(dump) != 0 ? 2 : 0;
}

void bench_start(void)
{
    clock_gettime(CLOCK_MONOTONIC, &begun);
}

void bench_stop(void)
{
    struct timespec now;
    double seconds;

    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds = (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) * 1e-9;
    printf("%.9f\n", seconds);
    total += seconds;
    runs_left = total >= enough ? 0 : runs_left - 1;
}

static void write_array(const char *name, const char *type, size_t size, const void *src, size_t rows, size_t cols)
{
    if (dump == NULL || runs_left > 0)
        return;
    fprintf(dump, "array %s %s %zu %zu\n", name, type, rows, cols);
    if (fwrite(src, size, rows * cols, dump) != rows * cols) {
        perror("BENCH_DUMP");
        exit(2);
    }
}

void bench_dump_double(const char *name, const void *src, size_t rows, size_t cols)
{
    write_array(name, "double", sizeof(double), src, rows, cols);
}

void bench_dump_float(const char *name, const void *src, size_t rows, size_t cols)
{
    write_array(name, "float", sizeof(float), src, rows, cols);
}

void bench_dump_int(const char *name, const void *src, size_t rows, size_t cols)
{
    write_array(name, "int", sizeof(int), src, rows, cols);
}
