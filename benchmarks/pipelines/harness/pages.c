/*
 * What malloc does with the memory of a pipeline's intermediates between two calls:
 *
 *   BENCH_PAGES=fresh  (the default) a large block goes back to the system when it is freed, so that each call pays for
 *                      a fault at the first touch of every page, as with malloc and free in a function of a library
 *   BENCH_PAGES=kept   nothing goes back: the pages of the first call, which is not counted, serve all others. malloc
 *                      does not give a call the same blocks as the one before, and grows for some calls more: so there
 *                      are HEAP bytes from the start, each page touched
 *
 * Without the constants of glibc there is only what the C library does by itself.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define HEAP ((size_t)1 << 30)

#if defined(M_MMAP_THRESHOLD) && defined(M_MMAP_MAX) && defined(M_TRIM_THRESHOLD)
__attribute__((constructor)) static void pages(void)
{
    const char *wanted = getenv("BENCH_PAGES");
    volatile char *touched; /* or the compiler sees that nobody reads it */
    size_t i;

    if (wanted != NULL && strcmp(wanted, "kept") == 0) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
        touched = malloc(HEAP);
        for (i = 0; touched != NULL && i < HEAP; i += 4096)
            touched[i] = 1;
        free((void *)touched);
    } else {
        mallopt(M_MMAP_THRESHOLD, 128 * 1024);
        mallopt(M_TRIM_THRESHOLD, 128 * 1024);
    }
}
#endif
