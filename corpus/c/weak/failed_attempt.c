// An attempt to take a mutex that fails teaches nothing about what its holder has done before.
// expect: holds
// expect -DTRUSTING: violated race
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *holder(void *unused) {
#ifdef TRUSTING
    data = 1;
#endif
    pthread_mutex_lock(&mutex);
    data = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, holder, 0);
    if (pthread_mutex_trylock(&mutex) == 0) {
#ifndef TRUSTING
        assert(data == 0 || data == 1);
#endif
        pthread_mutex_unlock(&mutex);
    } else {
#ifdef TRUSTING
        assert(data == 1);
#endif
    }
    pthread_join(thread, 0);
    return 0;
}
