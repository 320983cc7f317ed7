// A ticket lock around a counter.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int next, serving;
static int counter;

static void *run(void *argument) {
    int ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != ticket)
        ;
    counter++;
    atomic_store_explicit(&serving, ticket + 1, memory_order_release);
    return argument;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return counter != N;
}
