// Two mutexes, taken in opposite orders or in one.
// expect: violated deadlock
// expect -DFIXED: holds
#include "threads.h"
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}
static void *second(void *unused) {
#ifdef FIXED
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
#else
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
#endif
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
