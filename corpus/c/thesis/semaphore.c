// A counting semaphore with a fast path: a release that sees no waiter does not signal, and the
// waiter that was about to sleep does not look again.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif
enum { USERS = 2 };

static atomic_int count;
static atomic_int n_waiters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static int try_acquire(void) {
    int seen = atomic_load(&count);
    while (seen > 0)
        if (atomic_compare_exchange_strong(&count, &seen, seen - 1))
            return 1;
    return 0;
}

static void acquire(void) {
    if (try_acquire())
        return;
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&n_waiters, 1); // Planted: a release may have come before this.
#ifdef FIXED
    while (!try_acquire())
        pthread_cond_wait(&released, &lock);
#else
    do
        pthread_cond_wait(&released, &lock);
    while (!try_acquire());
#endif
    atomic_fetch_sub(&n_waiters, 1);
    pthread_mutex_unlock(&lock);
}

static void release(void) {
    atomic_fetch_add(&count, 1);
    if (atomic_load(&n_waiters) == 0)
        return;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&released);
    pthread_mutex_unlock(&lock);
}

static void work(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&work_lock);
        n_done++;
        pthread_mutex_unlock(&work_lock);
    }
}

static void *releaser(void *unused) {
    for (int idx = 0; idx < USERS; idx++)
        release();
    work();
    return unused;
}

static void *user(void *unused) {
    acquire();
    work();
    return unused;
}

int main(void) {
    pthread_t threads[USERS + 1];
    pthread_create(&threads[0], 0, releaser, 0);
    for (int idx = 1; idx <= USERS; idx++)
        pthread_create(&threads[idx], 0, user, 0);
    for (int idx = 0; idx <= USERS; idx++)
        pthread_join(threads[idx], 0);
    return n_done == (USERS + 1) * ROUNDS ? 0 : 1;
}
