/* Two threads add to each other's number, N rounds each, as load, load and store. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

static atomic_int i = 1, j = 1;

static void *add_j(void *argument) {
    (void)argument;
    for (int round = 0; round < N; round++) {
        int mine = atomic_load(&i);
        int other = atomic_load(&j);
        atomic_store(&i, mine + other);
    }
    return NULL;
}

static void *add_i(void *argument) {
    (void)argument;
    for (int round = 0; round < N; round++) {
        int mine = atomic_load(&j);
        int other = atomic_load(&i);
        atomic_store(&j, mine + other);
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, add_j, NULL);
    pthread_create(&second, NULL, add_i, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    int limit = 1, before = 1;
    for (int step = 0; step < 2 * N; step++) {
        int sum = limit + before;
        before = limit;
        limit = sum;
    }
    assert(i <= limit && j <= limit);
    return 0;
}
