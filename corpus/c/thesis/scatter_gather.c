// Message passing: requests are scattered over workers, and their results gathered. The number of
// those that are still out is counted down by a load and a store.
// expect: violated deadlock
#include "port.h"

enum { WORKERS = 3, REQUESTS = 5 };

static port results = PORT;
static port finished = PORT;
static atomic_int n_out = WORKERS;

static void *worker(void *argument) {
    int left = atomic_load(&n_out) - 1;
    atomic_store(&n_out, left); // Planted: not one step.
    for (int idx = 0; idx < REQUESTS; idx++)
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
    return results.n_messages == WORKERS * REQUESTS ? 0 : 1;
}
