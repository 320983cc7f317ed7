// Message passing: requests are scattered over workers, and their results gathered. The number of
// those that are still out is counted down by a load and a store.
// expect: violated deadlock
// expect -DFIXED: holds
#include "port.h"

#ifndef ROUNDS
#define ROUNDS 5
#endif
enum { WORKERS = 3 };

static port results = PORT;
static port finished = PORT;
static atomic_int n_out = WORKERS;

static void *worker(void *argument) {
#ifdef FIXED
    int left = atomic_fetch_sub(&n_out, 1) - 1;
#else
    int left = atomic_load(&n_out) - 1;
    atomic_store(&n_out, left); // Planted: not one step.
#endif
    for (int idx = 0; idx < ROUNDS; idx++)
        post(&results, idx);
    if (left == 0)
        post(&finished, 1);
    return argument;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (int idx = 0; idx < WORKERS; idx++)
        pthread_create(&threads[idx], 0, worker, 0);
    receive(&finished);
    for (int idx = 0; idx < WORKERS; idx++)
        pthread_join(threads[idx], 0);
    return results.n_messages == WORKERS * ROUNDS ? 0 : 1;
}
