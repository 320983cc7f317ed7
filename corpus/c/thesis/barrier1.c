// A barrier that is used twice: the last to arrive resets the count after it has woken the others,
// who may have arrived at the second barrier by then.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif

enum { THREADS = 3 };

static atomic_int n_arrived;
static atomic_int generation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved_on = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static void barrier(void) {
    int mine = atomic_load(&generation);
    if (atomic_fetch_add(&n_arrived, 1) + 1 == THREADS) {
#ifdef FIXED
        atomic_store(&n_arrived, 0);
#endif
        pthread_mutex_lock(&lock);
        atomic_store(&generation, mine + 1);
        pthread_cond_broadcast(&moved_on);
        pthread_mutex_unlock(&lock);
#ifndef FIXED
        atomic_store(&n_arrived, 0); // Planted: too late.
#endif
        return;
    }
    pthread_mutex_lock(&lock);
    while (atomic_load(&generation) == mine)
        pthread_cond_wait(&moved_on, &lock);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused) {
    barrier();
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
    for (int idx = 0; idx < THREADS; idx++)
        pthread_create(&threads[idx], 0, worker, 0);
    for (int idx = 0; idx < THREADS; idx++)
        pthread_join(threads[idx], 0);
    return n_done == THREADS * ROUNDS ? 0 : 1;
}
