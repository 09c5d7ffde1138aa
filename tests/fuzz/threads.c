/* As much of libgomp as printed programs need, on plain threads, for ThreadSanitizer.

   ThreadSanitizer does not see the locks of libgomp, which is not built with it, and reports races where there are
   none. It sees pthread_create and pthread_join: all that happens in a parallel region lies between them, so that a
   report is a race of the region, and no synchronisation of a runtime hides one. */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4 };

struct share {
    void (*run)(void *);
    void *data;
    int number, inside;
};

static _Thread_local int number;
static _Thread_local int inside; /* threads of the region around */
static pthread_mutex_t atomics = PTHREAD_MUTEX_INITIALIZER;

static void *start(void *given)
{
    struct share *share = given;
    number = share->number;
    inside = share->inside;
    share->run(share->data);
    return NULL;
}

void GOMP_parallel(void (*run)(void *), void *data, unsigned wanted, unsigned flags)
{
    (void)flags;
    int threads = inside ? 1 : wanted && wanted < THREADS ? (int)wanted : THREADS;
    if (threads == 1) {
        int kept_number = number, kept_inside = inside;
        number = 0, inside = 1;
        run(data);
        number = kept_number, inside = kept_inside;
        return;
    }
    pthread_t thread[THREADS];
    struct share shares[THREADS];
    for (int k = 0; k < threads; k++) {
        shares[k] = (struct share){run, data, k, threads};
        if (pthread_create(&thread[k], NULL, start, &shares[k]))
            abort();
    }
    for (int k = 0; k < threads; k++)
        pthread_join(thread[k], NULL);
}

int omp_get_num_threads(void)
{
    return inside ? inside : 1;
}

int omp_get_thread_num(void)
{
    return number;
}

void GOMP_atomic_start(void)
{
    pthread_mutex_lock(&atomics);
}

void GOMP_atomic_end(void)
{
    pthread_mutex_unlock(&atomics);
}

/* Loops whose iterations threads take as they come: here each takes its turn, so that nothing but the loop's own
   accesses orders them. */
struct loop {
    long next, end, step, all;
};

static _Thread_local struct loop loop;

_Bool GOMP_loop_nonmonotonic_dynamic_next(long *first, long *end)
{
    int up = loop.step > 0;
    if (up ? loop.next >= loop.end : loop.next <= loop.end)
        return 0;
    long last = loop.next + loop.step;
    *first = loop.next;
    *end = (up ? last > loop.end : last < loop.end) ? loop.end : last;
    loop.next += loop.all;
    return 1;
}

_Bool GOMP_loop_nonmonotonic_dynamic_start(long begin, long end, long step, long chunk, long *first, long *last)
{
    long own = step * chunk;
    loop = (struct loop){begin + number * own, end, own, own * omp_get_num_threads()};
    return GOMP_loop_nonmonotonic_dynamic_next(first, last);
}

void GOMP_loop_end_nowait(void)
{
}

struct looping {
    void (*run)(void *);
    void *data;
    long begin, end, step, chunk;
};

static void run_loop(void *given)
{
    struct looping *mine = given;
    long own = mine->step * mine->chunk;
    loop = (struct loop){mine->begin + number * own, mine->end, own, own * omp_get_num_threads()};
    mine->run(mine->data);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(
    void (*run)(void *), void *data, unsigned wanted, long begin, long end, long step, long chunk, unsigned flags)
{
    struct looping looping = {run, data, begin, end, step, chunk};
    GOMP_parallel(run_loop, &looping, wanted, flags);
}
