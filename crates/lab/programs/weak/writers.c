// Each thread stores one variable, with relaxed orders: every order of the stores is a graph.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static atomic_int variable;

static void *run(void *argument) {
    atomic_store_explicit(&variable, 1 + (int)(intptr_t)argument, memory_order_relaxed);
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
