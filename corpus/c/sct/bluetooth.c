// A driver counts the requests inside it. A request that looks before it counts itself may find
// the driver stopped while it works.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int pending = 1;
static atomic_bool stopping, stopped;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

static void leave(void) {
    if (atomic_fetch_sub(&pending, 1) == 1) {
        pthread_mutex_lock(&mutex);
        pthread_cond_signal(&idle);
        pthread_mutex_unlock(&mutex);
    }
}

static bool enter(void) {
#ifdef FIXED
    atomic_fetch_add(&pending, 1);
    if (!atomic_load(&stopping)) return true;
    leave();
    return false;
#else
    if (atomic_load(&stopping)) return false;
    atomic_fetch_add(&pending, 1);
    return true;
#endif
}

static void *request(void *unused) {
    if (enter()) {
        assert(!atomic_load(&stopped));
        leave();
    }
    return unused;
}

static void *stop(void *unused) {
    atomic_store(&stopping, true);
    leave();
    pthread_mutex_lock(&mutex);
    while (atomic_load(&pending) > 0) pthread_cond_wait(&idle, &mutex);
    pthread_mutex_unlock(&mutex);
    atomic_store(&stopped, true);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, stop, 0);
    pthread_create(&two, 0, request, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
