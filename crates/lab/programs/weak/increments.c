// Each thread adds to one counter, with relaxed orders, and then reads it.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int counter;

static void *run(void *argument) {
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    atomic_load_explicit(&counter, memory_order_relaxed);
    return argument;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
