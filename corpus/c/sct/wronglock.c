// One thread protects the counter with its lock, the others with another.
// expect -DOTHERS=1: violated race
// expect -DOTHERS=3: violated race
// expect -DOTHERS=3 -DFIXED: holds
#include <pthread.h>

static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER, wrong = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *unused) {
    pthread_mutex_lock(&right);
    counter++;
    pthread_mutex_unlock(&right);
    return unused;
}

static void *count_wrong(void *unused) {
#ifdef FIXED
    return count(unused);
#else
    pthread_mutex_lock(&wrong);
    counter++;
    pthread_mutex_unlock(&wrong);
    return unused;
#endif
}

int main(void) {
    pthread_t threads[OTHERS + 1];
    pthread_create(&threads[OTHERS], 0, count, 0);
    for (int i = 0; i < OTHERS; i++) pthread_create(&threads[i], 0, count_wrong, 0);
    for (int i = 0; i <= OTHERS; i++) pthread_join(threads[i], 0);
    return 0;
}
