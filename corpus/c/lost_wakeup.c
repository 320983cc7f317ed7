// A signal that comes before the wait is lost, unless somebody looks first.
// expect: violated deadlock
// expect -DFIXED: holds
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!is_ready)
#endif
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
