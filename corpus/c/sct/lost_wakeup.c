// The one who waits looks at the flag before it takes the lock: the notification may come between.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_bool is_ready;

static void *wait_for_it(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    while (!is_ready) pthread_cond_wait(&ready, &mutex);
    pthread_mutex_unlock(&mutex);
#else
    if (!is_ready) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&ready, &mutex);
        pthread_mutex_unlock(&mutex);
    }
#endif
    return unused;
}

static void *make_ready(void *unused) {
    pthread_mutex_lock(&mutex);
    is_ready = true;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, wait_for_it, 0);
    pthread_create(&two, 0, make_ready, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
