// Dining philosophers, each of whom takes the left fork first.
// expect -DN=2: violated deadlock
// expect -DN=3: violated deadlock
// expect -DN=4: violated deadlock
// expect -DN=5: violated deadlock
// expect -DN=6: violated deadlock
// expect -DN=7: violated deadlock
// expect -DN=3 -DFIXED: holds
#include <pthread.h>

static pthread_mutex_t forks[N];

static void *dine(void *number) {
    long me = (long)number, left = me, right = (me + 1) % N;
#ifdef FIXED
    if (me == 0) {
        left = right;
        right = me;
    }
#endif
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_mutex_init(&forks[i], 0);
    for (long i = 0; i < N; i++) pthread_create(&threads[i], 0, dine, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
