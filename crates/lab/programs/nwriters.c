/* N stores to one variable: N! traces. */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 9
#endif

static atomic_int x;

static void *writer(void *argument) {
    atomic_store(&x, (int)(long)argument);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], NULL, writer, (void *)i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
