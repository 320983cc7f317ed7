/* The queue lock of Mellor-Crummey and Scott: each thread waits at its own node. */
#include "threads.h"

typedef struct node {
    _Atomic(struct node *) next;
    atomic_int locked;
} node;

static node nodes[N];
static _Atomic(node *) tail;
static int inside;

static void *work(void *arg) {
    node *me = &nodes[(long)arg];
    atomic_store(&me->locked, 1);
    node *before = atomic_exchange(&tail, me);
    if (before) {
        atomic_store(&before->next, me);
        while (atomic_load(&me->locked)) {
        }
    }
    inside++;
    node *behind = atomic_load(&me->next);
    if (!behind) {
        node *expected = me;
        if (atomic_compare_exchange_strong(&tail, &expected, 0)) return arg;
        while (!(behind = atomic_load(&me->next))) {
        }
    }
    atomic_store(&behind->locked, 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
