// A stack whose height is looked at before the lock is taken.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define N 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int height;
static int items[2 * N];

static void *push(void *unused) {
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&mutex);
        items[height] = i;
        height++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *pop(void *unused) {
    for (int i = 0; i < N; i++) {
        bool is_empty = height == 0;
        pthread_mutex_lock(&mutex);
#ifdef FIXED
        is_empty = height == 0;
#endif
        if (!is_empty) {
            assert(height > 0);
            height--;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, push, 0);
    pthread_create(&threads[1], 0, pop, 0);
    pthread_create(&threads[2], 0, pop, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
