// Two readers that want to write without giving the lock back.
// expect: violated deadlock
#include "threads.h"
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void upgrade(void) {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
}

static void *first(void *unused) {
    upgrade();
    return unused;
}
static void *second(void *unused) {
    upgrade();
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
