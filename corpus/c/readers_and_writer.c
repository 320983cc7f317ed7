// A reader-writer lock; a writer that takes it for reading races.
// expect: holds
// expect -DWRONG: violated race
#include "threads.h"
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *first(void *unused) {
#ifdef WRONG
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    value++;
    pthread_rwlock_unlock(&lock);
    return unused;
}
static void *second(void *unused) {
    pthread_rwlock_rdlock(&lock);
    assert(value >= 0);
    pthread_rwlock_unlock(&lock);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
