// A load may read a store that is older than seven others, as long as nothing orders them.
// expect: violated assertion
// expect -DACQUIRED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *writer(void *unused) {
    for (int value = 1; value <= 8; value++)
        atomic_store_explicit(&x, value, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
#ifdef ACQUIRED
    if (atomic_load_explicit(&y, memory_order_acquire))
#else
    if (atomic_load_explicit(&y, memory_order_relaxed))
#endif
        assert(atomic_load_explicit(&x, memory_order_relaxed) != 1);
    pthread_join(thread, 0);
    return 0;
}
