// A release sequence goes on over read-modify-writes of any thread and any order. Another store ends
// it, even one of the same thread: C11 had that otherwise, C++20 and RC11 have it so.
// expect: holds
// expect -DSTORE: violated race
// expect -DOWN_STORE: violated race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stage;
static int data;

static void *first(void *unused) {
    data = 1;
    atomic_store_explicit(&stage, 1, memory_order_release);
#ifdef OWN_STORE
    atomic_store_explicit(&stage, 2, memory_order_relaxed);
#endif
    return unused;
}

static void *second(void *unused) {
#ifdef STORE
    if (atomic_load_explicit(&stage, memory_order_relaxed) == 1)
        atomic_store_explicit(&stage, 2, memory_order_relaxed);
#elif !defined OWN_STORE
    int expected = 1;
    atomic_compare_exchange_strong_explicit(&stage, &expected, 2, memory_order_relaxed,
                                            memory_order_relaxed);
#endif
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2) assert(data == 1);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
