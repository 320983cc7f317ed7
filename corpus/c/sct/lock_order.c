// Three locks, taken in a circle by three threads.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>

#define N 3

static pthread_mutex_t locks[N] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void *work(void *number) {
    long me = (long)number, first = me, second = (me + 1) % N;
#ifdef FIXED
    if (first > second) {
        first = second;
        second = me;
    }
#endif
    pthread_mutex_lock(&locks[first]);
    pthread_mutex_lock(&locks[second]);
    pthread_mutex_unlock(&locks[second]);
    pthread_mutex_unlock(&locks[first]);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
