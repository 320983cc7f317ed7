/* Harris's sorted list: N threads insert a key each, and the first one also removes what it has
 * inserted. A link with its lowest bit set marks its node as removed. */
#include "threads.h"
#include <stdint.h>

typedef struct node {
    _Atomic(uintptr_t) next;
    int key;
} node;

static node nodes[N], last = {0, 100}, head = {0, -1};

static node *pointer(uintptr_t link) { return (node *)(link & ~(uintptr_t)1); }

/* The first node with this key or a greater one, and the one before it. */
static node *find(int key, node **before) {
again:;
    node *left = &head;
    node *right = pointer(atomic_load(&left->next));
    for (;;) {
        uintptr_t next = atomic_load(&right->next);
        if (next & 1) {
            uintptr_t expected = (uintptr_t)right;
            uintptr_t behind = next & ~(uintptr_t)1;
            if (!atomic_compare_exchange_strong(&left->next, &expected, behind)) goto again;
            right = pointer(next);
            continue;
        }
        if (right->key >= key) break;
        left = right;
        right = pointer(next);
    }
    *before = left;
    return right;
}

static void insert(node *mine) {
    for (;;) {
        node *left, *right = find(mine->key, &left);
        uintptr_t expected = (uintptr_t)right;
        atomic_store(&mine->next, expected);
        if (atomic_compare_exchange_strong(&left->next, &expected, (uintptr_t)mine)) return;
    }
}

static void take_out(int key) {
    for (;;) {
        node *left, *right = find(key, &left);
        if (right->key != key) return;
        uintptr_t next = atomic_load(&right->next);
        if (!(next & 1) && atomic_compare_exchange_strong(&right->next, &next, next | 1)) {
            uintptr_t expected = (uintptr_t)right;
            atomic_compare_exchange_strong(&left->next, &expected, next);
            return;
        }
    }
}

static void *work(void *arg) {
    long me = (long)arg;
    nodes[me].key = (int)me;
    insert(&nodes[me]);
    if (me == 0) take_out(0);
    return arg;
}

int main(void) {
    atomic_store(&head.next, (uintptr_t)&last);
    run(N, work);
    int n = 0;
    node *it = pointer(atomic_load(&head.next));
    for (; it != &last; it = pointer(atomic_load(&it->next))) {
        n += !(atomic_load(&it->next) & 1);
    }
    assert(n == N - 1);
}
