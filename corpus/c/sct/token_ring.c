// Each of four threads makes its number the one before it plus one, once. Only in one order does
// the ring come round.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>

#define N 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int tokens[N + 1] = {1};

static void *pass(void *number) {
    long me = (long)number;
    pthread_mutex_lock(&mutex);
    tokens[me] = tokens[me - 1] + 1;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t threads[N + 1];
    for (long i = 1; i <= N; i++) {
        pthread_create(&threads[i], 0, pass, (void *)i);
#ifdef FIXED
        pthread_join(threads[i], 0);
#endif
    }
#ifndef FIXED
    for (int i = 1; i <= N; i++) pthread_join(threads[i], 0);
#endif
    assert(tokens[N] == N + 1);
    return 0;
}
