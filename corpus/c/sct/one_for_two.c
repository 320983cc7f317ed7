// Both sides of a buffer with one place sleep on one condition variable, and one is woken: it may
// be the wrong one.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_full;

static void tell(void) {
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void *put(void *unused) {
    pthread_mutex_lock(&mutex);
    while (is_full) pthread_cond_wait(&changed, &mutex);
    is_full = true;
    tell();
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *take(void *unused) {
    pthread_mutex_lock(&mutex);
    while (!is_full) pthread_cond_wait(&changed, &mutex);
    is_full = false;
    tell();
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, take, 0);
    for (int i = 2; i < 4; i++) pthread_create(&threads[i], 0, put, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
