// A load as the first step of a thread, and one more of the same variable: neither hides what the
// other, or another thread, may see.
// expect: violated assertion
// expect -DBACKWARDS: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *reader(void *unused) {
    int one = atomic_load_explicit(&x, memory_order_relaxed);
    int other = atomic_load_explicit(&x, memory_order_relaxed);
#ifdef BACKWARDS
    assert(one <= other);
#else
    assert(!(one == 0 && other == 2));
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, reader, 0);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    pthread_join(thread, 0);
    return 0;
}
