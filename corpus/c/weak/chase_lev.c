// A work-stealing deque: its owner takes from one end while a thief takes from the other (Lê, Pop,
// Cohen and Zappa Nardelli, PPoPP 2013). Without the fences between the accesses of `bottom` and
// `top`, both may get the same item.
// expect: holds
// expect -DNO_FENCE: violated assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top, bottom = 1, buffer[2] = {7, 0};
static int n_taken, n_stolen;

static int take(void) {
    int last = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, last, memory_order_relaxed);
#ifndef NO_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int first = atomic_load_explicit(&top, memory_order_relaxed);
    if (first > last) {
        atomic_store_explicit(&bottom, last + 1, memory_order_relaxed);
        return 0;
    }
    int item = atomic_load_explicit(&buffer[last % 2], memory_order_relaxed);
    if (first == last) {
        if (!atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst,
                                                     memory_order_relaxed))
            item = 0;
        atomic_store_explicit(&bottom, last + 1, memory_order_relaxed);
    }
    return item;
}

static int steal(void) {
    int first = atomic_load_explicit(&top, memory_order_acquire);
#ifndef NO_FENCE
    atomic_thread_fence(memory_order_seq_cst);
#endif
    int last = atomic_load_explicit(&bottom, memory_order_acquire);
    if (first >= last)
        return 0;
    int item = atomic_load_explicit(&buffer[first % 2], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &first, first + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return 0;
    return item;
}

static void *thief(void *unused) {
    n_stolen += steal() != 0;
    n_stolen += steal() != 0;
    return unused;
}

int main(void) {
    pthread_t thread;
    // Two items, so that the owner takes the second one without a compare-and-swap.
    atomic_store_explicit(&buffer[1], 8, memory_order_relaxed);
    atomic_store_explicit(&bottom, 2, memory_order_relaxed);
    pthread_create(&thread, 0, thief, 0);
    n_taken += take() != 0;
    pthread_join(thread, 0);
    assert(n_taken + n_stolen <= 2);
    return 0;
}
