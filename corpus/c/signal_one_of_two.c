// Two wait, and one signal is all they get.
// expect: violated deadlock
// expect -DBROADCAST: holds
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;
static int open;
static void *wait(void *unused) {
    pthread_mutex_lock(&lock);
    while (!open)
        pthread_cond_wait(&go, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *first(void *unused) {
    together(wait, wait);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    open = 1;
#ifdef BROADCAST
    pthread_cond_broadcast(&go);
#else
    pthread_cond_signal(&go);
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
