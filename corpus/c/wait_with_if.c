// An `if` before a wait instead of a `while`: what one took, the other misses.
// expect: violated assertion
// expect -DFIXED: holds
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;
static void *take(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (items == 0)
#else
    if (items == 0)
#endif
        pthread_cond_wait(&filled, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *put(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *first(void *unused) {
    all_three(take, take, put);
    return unused;
}
static void *second(void *unused) {
    (void)unused;
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
