// A lock of Mellor-Crummey and Scott (ACM TOCS 1991): who comes waits for the one before it.
// expect: holds
// expect -DTAKE=memory_order_release: violated race
// expect -DGIVE=memory_order_relaxed: violated race
// expect -DEMPTY=memory_order_relaxed: violated race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef TAKE
#define TAKE memory_order_acq_rel
#endif
#ifndef GIVE
#define GIVE memory_order_release
#endif
#ifndef EMPTY
#define EMPTY memory_order_release
#endif

struct node {
    _Atomic(struct node *) next;
    atomic_int waits;
};

static _Atomic(struct node *) last;
static struct node nodes[2];
static int data;

static void work(struct node *mine) {
    atomic_store_explicit(&mine->next, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->waits, 1, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&last, mine, TAKE);
    if (before) {
        atomic_store_explicit(&before->next, mine, memory_order_release);
        while (atomic_load_explicit(&mine->waits, memory_order_acquire)) {
        }
    }
    data++;
    struct node *next = atomic_load_explicit(&mine->next, memory_order_acquire);
    if (!next) {
        struct node *expected = mine;
        if (atomic_compare_exchange_strong_explicit(&last, &expected, 0, EMPTY,
                                                    memory_order_relaxed))
            return;
        while (!(next = atomic_load_explicit(&mine->next, memory_order_acquire))) {
        }
    }
    atomic_store_explicit(&next->waits, 0, GIVE);
}

static void *other(void *unused) {
    work(&nodes[1]);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    work(&nodes[0]);
    pthread_join(thread, 0);
    assert(data == 2);
    return 0;
}
