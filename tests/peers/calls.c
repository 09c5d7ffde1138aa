/* Calls each function of a file with drawn arguments, and says what each call leaves behind: tests/peers/calls.py. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern const int polyc_t_functions;
extern const char *const polyc_t_names[];
extern const int polyc_t_apart[];
void polyc_t_globals(int filled);
void polyc_t_call(int function);

enum { PAGE = 4096, TRIALS = 24, BLOCKS = 20000 };
static const size_t ARENA = (size_t)1 << 32;
static char *const START = (char *)0x200000000000;
/* What whole numbers are at the most, in each trial. */
static const int MOST[TRIALS] = {3, 5, 8, 3, 12, 2, 16, 4, 24, 8, 40, 2, 5, 12, 64, 100, 3, 40, 300, 1000, 33, 8, 2, 4};

static struct { char *at; size_t bytes; } blocks[BLOCKS], seen[BLOCKS];
static int seconds = 1, known, watched, most, overlapping;
int polyc_t_calls = 1;
static char *top, *last;
static size_t last_size, last_bytes;
static uint64_t state;

static uint32_t drawn(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Memory with a page behind it, and one before, that nobody may touch. */
void *polyc_t_block(size_t size, size_t count, int depth)
{
    size_t bytes = (size * count + 15) / 16 * 16;
    if (overlapping && depth == 0 && last && last_size == size && drawn() % 2)
        return last + size * (drawn() % 3);
    if (known == BLOCKS || bytes > ((size_t)1 << 26) || top + bytes + 3 * PAGE > START + ARENA)
        _exit(9);
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    char *page = top + PAGE;
    if (mprotect(page, whole, PROT_READ | PROT_WRITE))
        _exit(9);
    top = page + whole;
    blocks[known].at = page + whole - bytes;
    blocks[known++].bytes = bytes;
    if (depth == 0)
        last = page + whole - bytes, last_size = size, last_bytes = bytes;
    return page + whole - bytes;
}

/* Whether a pointer leads somewhere: structs of structs would soon fill all memory. */
int polyc_t_deeper(int depth)
{
    return depth < 4 && (depth == 0 || known < BLOCKS / 10);
}

void polyc_t_int(void *place, size_t size, int is_datum)
{
    uint32_t kind = drawn() % 100;
    int64_t value = 1 + drawn() % most;
    if (size == 1 && is_datum)
        value = drawn() % 256;
    else if (kind < (is_datum ? 20 : 6))
        value = 0;
    else if (kind < (is_datum ? 23 : 8))
        value = -1;
    else if (kind < (is_datum ? 40 : 30))
        value = most;
    memcpy(place, &value, size);
}

void polyc_t_real(void *place, size_t size)
{
    double wide = ((int)(drawn() % 2001) - 1000) / 256.0;
    float narrow = (float)wide;
    long double widest = wide;
    if (size == 4)
        memcpy(place, &narrow, 4);
    else if (size == 8)
        memcpy(place, &wide, 8);
    else if (size == 16)
        memcpy(place, &widest, 10);
}

void polyc_t_seen(void *place, size_t bytes)
{
    if (watched < BLOCKS)
        seen[watched].at = place, seen[watched++].bytes = bytes;
}

/* A word; those that may point to memory of malloc, of the stack or of the program's own are all one. */
static uint64_t word(const char *at, size_t left)
{
    uint64_t found = 0;
    memcpy(&found, at, left < 8 ? left : 8);
    uint64_t high = found >> 40;
    return high == 0x55 || high == 0x56 || high == 0x7f || high == 0x7e ? 1 : found;
}

static uint64_t hashed(uint64_t hash, const char *at, size_t bytes, FILE *dump)
{
    for (size_t k = 0; k < bytes; k += 8) {
        hash = (hash ^ word(at + k, bytes - k)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
        if (dump)
            fprintf(dump, "%p+%zu %016llx\n", (void *)at, k, (unsigned long long)word(at + k, bytes - k));
    }
    return hash;
}

static void child(int function, int trial, int to, FILE *dump)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(seconds);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0), dup2(null, 1), dup2(null, 2);
    if (mmap(START, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != START)
        _exit(9);
    top = START;
    state = 77 + 1000 * (uint64_t)trial;
    for (const char *name = polyc_t_names[function]; *name; name++)
        state = state * 31 + (unsigned char)*name;
    for (int k = 0; k < 5; k++)
        drawn();
    most = MOST[trial];
    overlapping = trial % 4 == 3 && !polyc_t_apart[function];
    polyc_t_calls = 1 + (trial % 3 == 2);
    polyc_t_globals(trial % 2);
    polyc_t_call(function);
    uint64_t hash = 1;
    for (int k = 0; k < known; k++)
        hash = hashed(hash, blocks[k].at, blocks[k].bytes, dump);
    for (int k = 0; k < watched; k++)
        hash = hashed(hash, seen[k].at, seen[k].bytes, dump);
    if (dump)
        fclose(dump);
    if (write(to, &hash, sizeof hash) != sizeof hash)
        _exit(9);
    _exit(0);
}

int main(int count, char **words)
{
    int only = count > 3 ? atoi(words[2]) : -1;
    seconds = count > 1 ? atoi(words[1]) : seconds;
    for (int function = 0; function < polyc_t_functions; function++) {
        if (only >= 0 && function != only)
            continue;
        int late = 0;
        for (int trial = 0; trial < TRIALS && !late; trial++) {
            if (only >= 0 && trial != atoi(words[3]))
                continue;
            int ends[2], status = 0;
            uint64_t hash = 0;
            if (pipe(ends))
                return 1;
            pid_t one = fork();
            if (!one)
                child(function, trial, ends[1], count > 4 ? fopen(words[4], "w") : NULL);
            close(ends[1]);
            ssize_t got = read(ends[0], &hash, sizeof hash);
            close(ends[0]);
            waitpid(one, &status, 0);
            late += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
            if (got == (ssize_t)sizeof hash)
                printf("%d %d %016llx\n", function, trial, (unsigned long long)hash);
            else
                printf("%d %d %s%d\n", function, trial, WIFSIGNALED(status) ? "signal" : "exit",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            fflush(stdout);
        }
    }
    return 0;
}
