/* A thread accesses a variable by atomic operations, and `main` in another way. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *shared;
int seen;

static void *work(void *unused)
{
#if defined LOADED
    atomic_load((atomic_int *)shared);
#elif defined ADDED
    atomic_fetch_add((atomic_int *)shared, 1);
#else
    atomic_store((atomic_int *)shared, 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    shared = malloc(sizeof *shared);
    *shared = 0;
    pthread_create(&thread, NULL, work, NULL);
#if defined JOINED
    pthread_join(thread, NULL);
#endif
#if defined FREED
    free(shared);
#elif defined WRITTEN
    *shared = 1;
#else
    seen = *shared;
#endif
#if !defined JOINED
    pthread_join(thread, NULL);
#endif
    return 0;
}
