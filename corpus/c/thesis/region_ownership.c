// Regions of the heap, each with one owner: a region is taken by a look at its owner and a store of
// the next one, so that two threads can come to own it.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 4
#endif

enum { REGIONS = 2, THREADS = 3, FREE = -1 };

static atomic_int owner[REGIONS] = {FREE, FREE};
static atomic_int n_owners[REGIONS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_visits;

static void take_region(int region, int thread) {
#ifdef FIXED
    int free = FREE;
    if (!atomic_compare_exchange_strong(&owner[region], &free, thread))
        return;
#else
    if (atomic_load(&owner[region]) != FREE)
        return;
    atomic_store(&owner[region], thread); // Planted: not one step with the look.
#endif
    int owners = atomic_fetch_add(&n_owners[region], 1);
    assert(owners == 0);
}

static void *worker(void *argument) {
    int own = (int)(long)argument;
    for (int region = 0; region < REGIONS; region++)
        take_region(region, own);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&table_lock);
        n_visits++;
        pthread_mutex_unlock(&table_lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long idx = 0; idx < THREADS; idx++)
        pthread_create(&threads[idx], 0, worker, (void *)idx);
    for (int idx = 0; idx < THREADS; idx++)
        pthread_join(threads[idx], 0);
    return n_visits == THREADS * ROUNDS ? 0 : 1;
}
