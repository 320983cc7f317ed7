// Two readers who both want to write keep their locks for reading meanwhile.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *update(void *unused) {
    pthread_rwlock_rdlock(&lock);
    int is_needed = value == 0;
#ifdef FIXED
    pthread_rwlock_unlock(&lock);
#endif
    if (is_needed) {
        pthread_rwlock_wrlock(&lock);
        value = 1;
        pthread_rwlock_unlock(&lock);
    }
#ifndef FIXED
    pthread_rwlock_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, update, 0);
    pthread_create(&two, 0, update, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
