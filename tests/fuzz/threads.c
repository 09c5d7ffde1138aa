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

/* A loop with dynamic chunks: here each thread takes every so-manieth of them, so that runs are the same. */
static __thread struct {
    long next, end, step, chunk;
} loop;

int GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to)
{
    if (loop.step > 0 ? loop.next >= loop.end : loop.next <= loop.end)
        return 0;
    long last = loop.next + loop.chunk * loop.step;
    *from = loop.next;
    *to = (loop.step > 0 ? last > loop.end : last < loop.end) ? loop.end : last;
    loop.next += (inside ? inside : 1) * loop.chunk * loop.step;
    return 1;
}

int GOMP_loop_nonmonotonic_dynamic_start(long first, long end, long step, long chunk, long *from, long *to)
{
    loop.next = first + number * chunk * step, loop.end = end, loop.step = step, loop.chunk = chunk;
    return GOMP_loop_nonmonotonic_dynamic_next(from, to);
}

void GOMP_loop_end(void)
{
}

void GOMP_loop_end_nowait(void)
{
}

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

struct dealt {
    void (*run)(void *);
    void *data;
    long first, end, step, chunk;
};

static void run_dealt(void *given)
{
    struct dealt *dealt = given;
    loop.next = dealt->first + number * dealt->chunk * dealt->step;
    loop.end = dealt->end, loop.step = dealt->step, loop.chunk = dealt->chunk;
    dealt->run(dealt->data);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(void (*run)(void *), void *data, unsigned wanted, long first, long end,
                                             long step, long chunk, unsigned flags)
{
    struct dealt dealt = {run, data, first, end, step, chunk};
    GOMP_parallel(run_dealt, &dealt, wanted, flags);
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
