// A compare-and-swap that fails is a load, with an order of its own: only that says what the thread
// learns from the store that it has found.
// expect: holds
// expect -DFAILURE=memory_order_relaxed: violated race
// expect -DFAILURE=memory_order_relaxed -DFENCE: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef FAILURE
#define FAILURE memory_order_acquire
#endif

static atomic_int state;
static int data;

static void *writer(void *unused) {
    data = 1;
    atomic_store_explicit(&state, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t thread;
    int found = 5;
    pthread_create(&thread, 0, writer, 0);
    atomic_compare_exchange_strong_explicit(&state, &found, 6, memory_order_acq_rel, FAILURE);
#ifdef FENCE
    atomic_thread_fence(memory_order_acquire);
#endif
    if (found == 1) assert(data == 1);
    pthread_join(thread, 0);
    return 0;
}
