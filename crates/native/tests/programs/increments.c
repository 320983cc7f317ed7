/* Three threads, five atomic increments each, whose results are added up: how many traces, and how
   fast. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 5
#endif

static atomic_int counter;

static void *work(void *nothing) {
    char *seen = nothing;
    for (int i = 0; i < N; i++)
        seen += atomic_fetch_add(&counter, 1);
    return seen;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(counter == 3 * N);
    return 0;
}
