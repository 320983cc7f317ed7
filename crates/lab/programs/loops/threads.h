/* N threads that all run `work`, and an assertion that is no library's. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 3
#endif

static void run(int n, void *(*work)(void *)) {
    pthread_t threads[8];
    for (long i = 0; i < n; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < n; i++) pthread_join(threads[i], 0);
}
