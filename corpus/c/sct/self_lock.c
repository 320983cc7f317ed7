// A function that takes the lock calls another one that takes it, too, if somebody was there first.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int visits;

static void reset(void) {
#ifndef FIXED
    pthread_mutex_lock(&mutex);
#endif
    visits = 0;
#ifndef FIXED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *visit(void *unused) {
    pthread_mutex_lock(&mutex);
    visits++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *tidy(void *unused) {
    pthread_mutex_lock(&mutex);
    if (visits > 0) reset();
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, tidy, 0);
    pthread_create(&two, 0, visit, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
