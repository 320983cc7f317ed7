// Each thread makes its place one more than the place before it; one looks for the last zero.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static atomic_int places[N + 1];

static void *look(void *argument) {
    for (int i = N; atomic_load_explicit(&places[i], memory_order_acquire) != 0; i--)
        ;
    return argument;
}

static void *count(void *argument) {
    int me = (int)(intptr_t)argument;
    int before = atomic_load_explicit(&places[me - 1], memory_order_acquire);
    atomic_store_explicit(&places[me], before + 1, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t threads[N + 1];
    pthread_create(&threads[0], 0, look, 0);
    for (int i = 1; i <= N; i++)
        pthread_create(&threads[i], 0, count, (void *)(intptr_t)i);
    for (int i = 0; i <= N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
