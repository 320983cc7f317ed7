// A barrier whose arrivals are counted by a load and a store: one of them can be lost, and nobody
// is the last.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>
#include <semaphore.h>

#ifndef ROUNDS
#define ROUNDS 3
#endif

enum { THREADS = 3 };

static atomic_int n_arrived;
static sem_t gate;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static void barrier(void) {
#ifdef FIXED
    int arrived = atomic_fetch_add(&n_arrived, 1) + 1;
#else
    int arrived = atomic_load(&n_arrived) + 1;
    atomic_store(&n_arrived, arrived); // Planted: not one step.
#endif
    if (arrived == THREADS)
        for (int idx = 1; idx < THREADS; idx++)
            sem_post(&gate);
    else
        sem_wait(&gate);
}

static void *worker(void *unused) {
    barrier();
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&work_lock);
        n_done++;
        pthread_mutex_unlock(&work_lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    sem_init(&gate, 0, 0);
    for (int idx = 0; idx < THREADS; idx++)
        pthread_create(&threads[idx], 0, worker, 0);
    for (int idx = 0; idx < THREADS; idx++)
        pthread_join(threads[idx], 0);
    return n_done == THREADS * ROUNDS ? 0 : 1;
}
