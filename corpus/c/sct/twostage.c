// Two values that belong together, each under a lock of its own: a reader between the two stages
// sees one without the other.
// expect -DWRITERS=1: violated assertion
// expect -DWRITERS=3: violated assertion
// expect -DWRITERS=2 -DFIXED: holds
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int value, copy;

static void *write_both(void *unused) {
    pthread_mutex_lock(&first);
    value = 1;
#ifndef FIXED
    pthread_mutex_unlock(&first);
#endif
    pthread_mutex_lock(&second);
    copy = 1;
    pthread_mutex_unlock(&second);
#ifdef FIXED
    pthread_mutex_unlock(&first);
#endif
    return unused;
}

static void *read_both(void *unused) {
    pthread_mutex_lock(&first);
    int seen = value;
#ifndef FIXED
    pthread_mutex_unlock(&first);
#endif
    pthread_mutex_lock(&second);
    assert(copy == seen);
    pthread_mutex_unlock(&second);
#ifdef FIXED
    pthread_mutex_unlock(&first);
#endif
    return unused;
}

int main(void) {
    pthread_t threads[WRITERS + 1];
    for (int i = 0; i < WRITERS; i++) pthread_create(&threads[i], 0, write_both, 0);
    pthread_create(&threads[WRITERS], 0, read_both, 0);
    for (int i = 0; i <= WRITERS; i++) pthread_join(threads[i], 0);
    return 0;
}
