// A recursive mutex, taken twice by each; a normal one waits for itself.
// expect: holds
// expect -DNORMAL: violated deadlock
#include "threads.h"

static int counter;
static pthread_mutex_t lock;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
#ifndef NORMAL
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
#endif
    pthread_mutex_init(&lock, &kind);
    together(work, work);
    assert(counter == 2);
    return 0;
}
