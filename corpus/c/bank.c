// Money that moves under two locks: to look at the sum, one of them is enough.
// expect: holds
// expect -DONE_LOCK: holds
#include "threads.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int in_a = 2, in_b = 2;

static void *first(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    in_a--;
    in_b++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&a);
#ifndef ONE_LOCK
    pthread_mutex_lock(&b);
#endif
    assert(in_a + in_b == 4);
#ifndef ONE_LOCK
    pthread_mutex_unlock(&b);
#endif
    pthread_mutex_unlock(&a);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
