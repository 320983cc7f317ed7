// A value behind a flag that orders nothing.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int value;

static void *producer(void *unused) {
    value = 42;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, NULL, producer, NULL);
    int seen = 0;
    if (atomic_load_explicit(&ready, memory_order_acquire))
        seen = value;
    pthread_join(id, NULL);
    return seen == 7;
}
