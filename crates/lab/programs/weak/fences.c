// The same with a sequentially consistent fence between the two accesses.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static atomic_int variables[N];

static void *run(void *argument) {
    int me = (int)(intptr_t)argument;
    atomic_store_explicit(&variables[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_load_explicit(&variables[(me + 1) % N], memory_order_relaxed);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, run, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
