// One thread publishes a number, and the others look at it.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int data, flag;

static void *write_it(void *argument) {
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 1, memory_order_release);
    return argument;
}

static void *read_it(void *argument) {
    if (atomic_load_explicit(&flag, memory_order_acquire))
        atomic_load_explicit(&data, memory_order_relaxed);
    return argument;
}

int main(void) {
    pthread_t writer, readers[N];
    pthread_create(&writer, 0, write_it, 0);
    for (int i = 0; i < N; i++)
        pthread_create(&readers[i], 0, read_it, 0);
    pthread_join(writer, 0);
    for (int i = 0; i < N; i++)
        pthread_join(readers[i], 0);
    return 0;
}
