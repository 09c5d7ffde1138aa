/* What a CPU does in a second: `polyc machine detect` builds and runs this.

   measure THREADS LINE NAME:ONE:ALL ... memory:ONE:ALL

   LINE is the bytes of a cache line, NAME a cache, ONE the bytes that one core reads alone, ALL those that each core
   reads while all of them do, or 0 where nobody asks. Prints lines `key value`. Each figure is the best of several short runs: other
   work on the machine makes a run slower, and never faster.

   Built with -DVECTOR_BYTES and -DVECTOR_REGISTERS; without OpenMP it measures one core only. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define RUN_SECONDS 1e-3 /* that one run takes, about */
#define RUNS 20
#define FEW_RUNS 4
#define MOST_SECONDS 0.06 /* after which a figure gets no more than FEW_RUNS */
#define PAGE 4096

typedef double doubles __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
#define LANES (VECTOR_BYTES / 8)

/* Independent chains: enough to fill two to four pipes of 4 to 5 cycles, in as many registers as there are. */
#if VECTOR_REGISTERS >= 32
#define CHAINS 24
#define EACH(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) \
  DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)
#else
#define CHAINS 12
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#endif

#define HIDE(x) __asm__ volatile("" : "+r"(x)) /* the compiler knows nothing of x any more */
#define USED(p) __asm__ volatile("" : : "r"(p) : "memory")

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* A kernel does `times` times the work that its own comment names, on `bytes` bytes at `at`. */
typedef void kernel(long times, char *at, long bytes);

/* 64 operations, each of which needs the one before and takes a cycle. */
static void cycles(long times, char *at, long bytes)
{
  uint64_t x = (uintptr_t)at, y = (uint64_t)bytes | 1;
  HIDE(y);
#define STEP x ^= y; HIDE(x);
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
  for (long t = 0; t < times; t++) { STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS }
}

/* CHAINS multiply-adds of a vector of doubles, or of floats. */
#define MULTIPLY_ADD(k) s##k = s##k * a + b;
#define DECLARE(k) s##k = b + k,
#define KEEP(k) kept[k] = s##k;
#define CHAINED(NAME, VECTOR, ELEMENT)                                        \
  static void NAME(long times, char *at, long bytes)                          \
  {                                                                           \
    VECTOR a = (VECTOR){} + (ELEMENT)0.5, b = (VECTOR){} + (ELEMENT)bytes;    \
    VECTOR EACH(DECLARE) kept[CHAINS];                                        \
    for (long t = 0; t < times; t++) {                                        \
      EACH(MULTIPLY_ADD)                                                      \
    }                                                                         \
    EACH(KEEP)                                                                \
    USED(kept);                                                               \
    (void)at;                                                                 \
  }
CHAINED(double_fma, doubles, double)
CHAINED(float_fma, floats, float)

/* 16 multiply-adds, each of which needs the one before. */
static void fma_latency(long times, char *at, long bytes)
{
  doubles a = (doubles){} + 0.5, b = (doubles){} + (double)bytes, s0 = b;
  for (long t = 0; t < times; t++) {
#define FOUR MULTIPLY_ADD(0) MULTIPLY_ADD(0) MULTIPLY_ADD(0) MULTIPLY_ADD(0)
    FOUR FOUR FOUR FOUR
  }
  USED(&s0);
  (void)at;
}

/* Reads all bytes once. */
static void load(long times, char *at, long bytes)
{
  const words *p = (const words *)at;
  const long count = bytes / VECTOR_BYTES;
  words s0 = {}, s1 = {}, s2 = {}, s3 = {}, s4 = {}, s5 = {}, s6 = {}, s7 = {};
  for (long t = 0; t < times; t++) {
    for (long i = 0; i + 8 <= count; i += 8) {
      s0 ^= p[i], s1 ^= p[i + 1], s2 ^= p[i + 2], s3 ^= p[i + 3];
      s4 ^= p[i + 4], s5 ^= p[i + 5], s6 ^= p[i + 6], s7 ^= p[i + 7];
    }
    USED(at);
  }
  s0 ^= s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6 ^ s7;
  USED(&s0);
}

/* Writes all bytes once. */
static void store(long times, char *at, long bytes)
{
  words *p = (words *)at;
  const long count = bytes / VECTOR_BYTES;
  words v = (words){} + (uint64_t)bytes;
  for (long t = 0; t < times; t++) {
    for (long i = 0; i + 8 <= count; i += 8) {
      p[i] = v, p[i + 1] = v, p[i + 2] = v, p[i + 3] = v;
      p[i + 4] = v, p[i + 5] = v, p[i + 6] = v, p[i + 7] = v;
    }
    USED(at);
  }
}

/* Copies the first half to the second one, so that all bytes are read or written once. */
static void copy(long times, char *at, long bytes)
{
  const long count = bytes / VECTOR_BYTES / 2;
  const words *from = (const words *)at;
  words *to = (words *)at + count, none = {};
  __asm__ volatile("" : : "r"(&none) : "memory"); /* so that it is no call of memcpy */
  for (long t = 0; t < times; t++) {
    for (long i = 0; i < count; i++)
      to[i] = from[i] ^ none;
    USED(at);
  }
}

static char *chain; /* where `chase` begins */

/* 16 loads, each of which has its address from the one before. */
static void chase(long times, char *at, long bytes)
{
  char *p = chain;
  for (long t = 0; t < times; t++) {
#define NEXT p = *(char **)p;
    NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT NEXT
  }
  chain = p;
  USED(p);
  (void)at, (void)bytes;
}

/* One pointer in each line, to a line that chance picks: all of them in one cycle (Sattolo). */
static void link_lines(char *at, long bytes, long line)
{
  const long count = bytes / line;
  int32_t *order = malloc(count * sizeof *order);
  if (order == NULL)
    exit(3);
  uint64_t state = 88172645463325252u;
  for (long i = 0; i < count; i++)
    order[i] = i;
  for (long i = count - 1; i > 0; i--) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const long j = state % i;
    const int32_t other = order[i];
    order[i] = order[j], order[j] = other;
  }
  for (long i = 0; i < count; i++)
    *(char **)(at + i * line) = at + (long)order[i] * line;
  chain = at;
  free(order);
}

/* How often the kernel runs in RUN_SECONDS. */
static long often(kernel *run, char *at, long bytes)
{
  long times = 1;
  for (;;) {
    const double start = now();
    run(times, at, bytes);
    const double took = now() - start;
    if (took >= RUN_SECONDS / 2)
      return times;
    times = took < RUN_SECONDS / 100 ? times * 10 : (long)(times * RUN_SECONDS / took) + 1;
  }
}

/* Whether a figure whose runs began then gets another one after `done`. */
static int more(int done, double begun)
{
  return done < FEW_RUNS || (done < RUNS && now() - begun < MOST_SECONDS);
}

/* Seconds of one time, on one core. */
static double alone(kernel *run, char *at, long bytes)
{
  const long times = often(run, at, bytes);
  const double begun = now();
  double best = 1e9;
  for (int r = 0; more(r, begun); r++) {
    const double start = now();
    run(times, at, bytes);
    const double took = now() - start;
    best = took < best ? took : best;
  }
  return best / times;
}

static void tell(const char *name, const char *key, double value)
{
  printf("%s%s%s %.6g\n", name, *name ? "." : "", key, value);
  fflush(stdout);
}

#ifdef _OPENMP
/* Seconds of one time, where each of `threads` cores works on its own `bytes` from at + t * bytes: from when the first
   one starts to when the last one ends. */
static double together(kernel *run, int threads, char *at, long bytes)
{
  const long times = often(run, at, bytes);
  const double begun = now();
  double best = 1e9;
  for (int r = 0; more(r, begun); r++) {
    double first = 1e18, last = 0;
#pragma omp parallel num_threads(threads) reduction(min : first) reduction(max : last)
    {
      char *mine = at + omp_get_thread_num() * bytes;
#pragma omp barrier
      first = now();
      run(times, mine, bytes);
      last = now();
    }
    best = last - first < best ? last - first : best;
  }
  return best / times;
}

/* Seconds of one parallel region with nothing in it. */
static double region(int threads)
{
  double best = 1e9;
  for (int r = 0; r < 5 * RUNS; r++) { /* short ones */
    const double start = now();
    for (int k = 0; k < 20; k++) {
#pragma omp parallel num_threads(threads)
      USED(&best);
    }
    const double took = (now() - start) / 20;
    best = took < best ? took : best;
  }
  return best;
}
#endif

/* The rate of all cores together; `amount` is what one of them does in one time. Nothing where there is no OpenMP. */
static void tell_all(const char *name, const char *key, double amount, kernel *run, int threads, char *at, long bytes)
{
#ifdef _OPENMP
  if (bytes > 0)
    tell(name, key, amount * threads / together(run, threads, at, bytes));
#else
  (void)name, (void)key, (void)amount, (void)run, (void)threads, (void)at, (void)bytes;
#endif
}

/* Memory that each thread has touched where it will use it. */
static char *buffer(long bytes, int threads)
{
  char *at = NULL;
  if (posix_memalign((void **)&at, PAGE, bytes + PAGE) != 0)
    exit(3);
  const long share = (bytes / threads + PAGE) / PAGE * PAGE;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
  for (int t = 0; t < threads; t++)
    if (t * share < bytes)
      memset(at + t * share, 1, t * share + share < bytes ? share : bytes - t * share);
  return at;
}

/* What does not depend on the caches. */
static void core(char *at, int threads)
{
  tell("", "clock_ghz", 64e-9 / alone(cycles, at, PAGE));
  tell("", "double_gflops", 2e-9 * CHAINS * LANES / alone(double_fma, at, PAGE));
  tell("", "float_gflops", 4e-9 * CHAINS * LANES / alone(float_fma, at, PAGE));
  tell_all("", "all_double_gflops", 2e-9 * CHAINS * LANES, double_fma, threads, at, PAGE);
  tell("", "fma_latency_ns", 1e9 / 16 * alone(fma_latency, at, PAGE));
  tell("", "store_gb_per_s", 1e-9 * 4 * PAGE / alone(store, at, 4 * PAGE));
#ifdef _OPENMP
  tell("", "region_us", 1e6 * region(threads));
#endif
}

int main(int count, char **given)
{
  if (count < 4)
    return 2;
  const int threads = atoi(given[1]);
  const long line = atol(given[2]);
  if (threads < 1 || line < (long)sizeof(char *))
    return 2;
  long longest = 64 * PAGE;
  char name[32];
  for (int k = 3; k < count; k++) {
    long one, all;
    if (sscanf(given[k], "%31[^:]:%ld:%ld", name, &one, &all) != 3)
      return 2;
    longest = one > longest ? one : longest;
    longest = all * threads > longest ? all * threads : longest;
  }
  char *at = buffer(longest, threads);
  core(at, threads);
  for (int k = 3; k < count; k++) {
    long one, all;
    sscanf(given[k], "%31[^:]:%ld:%ld", name, &one, &all);
    tell(name, "gb_per_s", 1e-9 * one / alone(load, at, one));
    tell_all(name, "all_gb_per_s", 1e-9 * all, load, threads, at, all);
    if (strcmp(name, "memory") == 0) {
      tell(name, "copy_gb_per_s", 1e-9 * one / alone(copy, at, one));
      tell_all(name, "all_copy_gb_per_s", 1e-9 * all, copy, threads, at, all);
    }
    link_lines(at, one, line);
    tell(name, "latency_ns", 1e9 / 16 * alone(chase, at, one));
  }
  return 0;
}
