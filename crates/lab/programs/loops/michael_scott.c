/* The queue of Michael and Scott: N threads enqueue, DEQUEUERS others dequeue once. */
#include "threads.h"

#ifndef DEQUEUERS
#define DEQUEUERS 0
#endif

typedef struct node {
    _Atomic(struct node *) next;
    int value;
} node;

static node nodes[N + 1];
static _Atomic(node *) head = &nodes[N], tail = &nodes[N];

static void enqueue(node *mine) {
    for (;;) {
        node *last = atomic_load(&tail);
        node *next = atomic_load(&last->next);
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &next, mine)) {
            atomic_compare_exchange_strong(&tail, &last, mine);
            return;
        }
    }
}

static node *dequeue(void) {
    for (;;) {
        node *first = atomic_load(&head);
        node *last = atomic_load(&tail);
        node *next = atomic_load(&first->next);
        if (!next) return 0;
        if (first == last) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&head, &first, next)) {
            return next;
        }
    }
}

static void *work(void *arg) {
    long me = (long)arg;
    if (me >= N) return dequeue();
    nodes[me].value = 1;
    enqueue(&nodes[me]);
    return arg;
}

int main(void) {
    run(N + DEQUEUERS, work);
    int n = 0;
    for (node *it = atomic_load(&head); (it = atomic_load(&it->next));) n++;
    assert(n >= N - DEQUEUERS && n <= N);
}
