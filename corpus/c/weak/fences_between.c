// Store buffering with relaxed accesses: sequentially consistent fences between them forbid that both
// threads miss the other's store, and so do sequentially consistent accesses.
// expect: holds
// expect -DONE_FENCE: violated assertion
// expect -DRELEASE_FENCES: violated assertion
// expect -DSC_ACCESSES: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef SC_ACCESSES
#define ORDER memory_order_seq_cst
#else
#define ORDER memory_order_relaxed
#endif
#ifdef RELEASE_FENCES
#define FENCE memory_order_acq_rel
#else
#define FENCE memory_order_seq_cst
#endif

static atomic_int x, y;
static int seen;

static void *other(void *unused) {
    atomic_store_explicit(&x, 1, ORDER);
#ifndef SC_ACCESSES
    atomic_thread_fence(FENCE);
#endif
    seen = atomic_load_explicit(&y, ORDER);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    atomic_store_explicit(&y, 1, ORDER);
#if !defined ONE_FENCE && !defined SC_ACCESSES
    atomic_thread_fence(FENCE);
#endif
    int mine = atomic_load_explicit(&x, ORDER);
    pthread_join(thread, 0);
    assert(mine || seen);
    return 0;
}
