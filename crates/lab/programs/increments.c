/* Three threads of N atomic increments of one counter, with results that somebody looks at:
   (3N)! / (N!)^3 traces. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

static atomic_int counter;

static void *increment(void *argument) {
    char *seen = argument;
    for (int i = 0; i < N; i++) {
        seen += atomic_fetch_add(&counter, 1);
    }
    return seen;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, increment, NULL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    assert(counter == 3 * N);
    return 0;
}
