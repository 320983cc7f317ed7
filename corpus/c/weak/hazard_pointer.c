// A hazard pointer (Michael, IEEE TPDS 2004): a reader announces what it is about to use and looks
// again, a writer unlinks and looks at what was announced. Each needs a sequentially consistent
// fence between its store and its load.
// expect: holds
// expect -DREADER=memory_order_acq_rel: violated memory
// expect -DWRITER=memory_order_acq_rel: violated memory
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifndef READER
#define READER memory_order_seq_cst
#endif
#ifndef WRITER
#define WRITER memory_order_seq_cst
#endif

struct record {
    int value;
};

static _Atomic(struct record *) current, hazard;

static void *read_it(void *unused) {
    struct record *record = atomic_load_explicit(&current, memory_order_relaxed);
    if (!record) return unused;
    atomic_store_explicit(&hazard, record, memory_order_relaxed);
    atomic_thread_fence(READER);
    if (atomic_load_explicit(&current, memory_order_acquire) == record) assert(record->value == 7);
    atomic_store_explicit(&hazard, 0, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t thread;
    struct record *record = malloc(sizeof *record);
    record->value = 7;
    atomic_store_explicit(&current, record, memory_order_relaxed);
    pthread_create(&thread, 0, read_it, 0);
    atomic_store_explicit(&current, 0, memory_order_relaxed);
    atomic_thread_fence(WRITER);
    if (atomic_load_explicit(&hazard, memory_order_acquire) != record) free(record);
    pthread_join(thread, 0);
    return 0;
}
