// Two consumers wait with `if`: the second one to wake finds the queue empty.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int length;

static void *consume(void *unused) {
    pthread_mutex_lock(&mutex);
#ifdef FIXED
    while (length == 0)
#else
    if (length == 0)
#endif
        pthread_cond_wait(&filled, &mutex);
    assert(length > 0);
    length--;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *produce(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        length++;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, consume, 0);
    pthread_create(&threads[1], 0, consume, 0);
    pthread_create(&threads[2], 0, produce, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
