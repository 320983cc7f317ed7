// A manual-reset event: a waiter looks at the state, and then goes to sleep without looking again.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifndef ROUNDS
#define ROUNDS 3
#endif

typedef struct {
    atomic_bool is_set;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int n_waiters;
} event;

static event ready = {false, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_logged;

static void event_wait(event *it) {
    if (atomic_load(&it->is_set))
        return;
    pthread_mutex_lock(&it->lock);
    it->n_waiters++; // Planted: the event may have been set by now.
#ifdef FIXED
    while (!atomic_load(&it->is_set))
#endif
        pthread_cond_wait(&it->changed, &it->lock);
    it->n_waiters--;
    pthread_mutex_unlock(&it->lock);
}

static void event_set(event *it) {
    atomic_store(&it->is_set, true);
    pthread_mutex_lock(&it->lock);
    if (it->n_waiters > 0)
        pthread_cond_broadcast(&it->changed);
    pthread_mutex_unlock(&it->lock);
}

static void log_rounds(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&log_lock);
        n_logged++;
        pthread_mutex_unlock(&log_lock);
    }
}

static void *setter(void *unused) {
    event_set(&ready);
    log_rounds();
    return unused;
}

static void *waiter(void *unused) {
    event_wait(&ready);
    log_rounds();
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, waiter, 0);
    pthread_create(&threads[1], 0, setter, 0);
    pthread_create(&threads[2], 0, waiter, 0);
    for (int idx = 0; idx < 3; idx++)
        pthread_join(threads[idx], 0);
    return n_logged == 3 * ROUNDS ? 0 : 1;
}
