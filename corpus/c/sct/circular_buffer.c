// A buffer of two places. One that is full and one that is empty look the same: what was put in
// is overwritten.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#define PLACES 2
#define N 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int buffer[PLACES], first, count;

static bool is_full(void) {
#ifdef FIXED
    return count == PLACES;
#else
    return count > PLACES;
#endif
}

static void *put(void *unused) {
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&mutex);
        while (is_full()) pthread_cond_wait(&changed, &mutex);
        buffer[(first + count) % PLACES] = i;
        count++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *take(void *unused) {
    for (int i = 1; i <= N; i++) {
        pthread_mutex_lock(&mutex);
        while (count == 0) pthread_cond_wait(&changed, &mutex);
        int taken = buffer[first];
        first = (first + 1) % PLACES;
        count--;
        assert(taken == i);
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, put, 0);
    pthread_create(&two, 0, take, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
