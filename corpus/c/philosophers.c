// Three philosophers with a fork between each two; one of them left-handed, or none.
// expect: violated deadlock
// expect -DLEFT_HANDED: holds
#include "threads.h"

static pthread_mutex_t forks[3] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER
};
static void *dine(int me) {
    int first = me, second = (me + 1) % 3;
#ifdef LEFT_HANDED
    if (me == 2)
        first = 0, second = 2;
#endif
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
    return NULL;
}
static void *zero(void *unused) { return dine(0); }
static void *one(void *unused) { return dine(1); }
static void *two(void *unused) { return dine(2); }
int main(void) {
    all_three(zero, one, two);
    return 0;
}
