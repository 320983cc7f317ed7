// An access to where no memory is: of each kind.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int *nothing;
static atomic_int shared;

static void *thread(void *unused) {
    atomic_fetch_add(&shared, 1);
    void *where = nothing;
#if HOW == 0
    shared = *(volatile int *)where;
#elif HOW == 1
    *(volatile int *)where = 1;
#elif HOW == 2
    shared = atomic_load((atomic_int *)where);
#elif HOW == 3
    atomic_fetch_add((atomic_int *)where, 1);
#elif HOW == 4
    int expected = 0;
    atomic_compare_exchange_strong((atomic_int *)where, &expected, 1);
#elif HOW == 5
    shared = *(int *)where;
#elif HOW == 6
    while (*(volatile int *)where == 0)
        ;
#elif HOW == 7
    atomic_store((atomic_int *)where, 1);
#else
    pthread_mutex_lock((pthread_mutex_t *)where);
#endif
    return unused;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, thread, NULL);
    atomic_fetch_add(&shared, 1);
    pthread_join(one, NULL);
    return 0;
}
