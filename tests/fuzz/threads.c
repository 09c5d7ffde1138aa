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
