/* One thread looks for the last zero of an array, N others fill it from the left. */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 6
#endif

static atomic_int array[N + 1];

static void *seek(void *argument) {
    (void)argument;
    int idx = N;
    while (atomic_load(&array[idx]) != 0) {
        idx--;
    }
    return (void *)(long)idx;
}

static void *fill(void *argument) {
    long idx = (long)argument;
    atomic_store(&array[idx], atomic_load(&array[idx - 1]) + 1);
    return NULL;
}

int main(void) {
    pthread_t threads[N + 1];
    pthread_create(&threads[0], NULL, seek, NULL);
    for (long i = 1; i <= N; i++) {
        pthread_create(&threads[i], NULL, fill, (void *)i);
    }
    for (int i = 0; i <= N; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
