/* Treiber's stack: each thread pushes a node of its own and pops one. */
#include "threads.h"

typedef struct node {
    struct node *next;
} node;

static node nodes[N];
static _Atomic(node *) top;

static void *work(void *arg) {
    node *mine = &nodes[(long)arg];
    node *seen = atomic_load(&top);
    do mine->next = seen;
    while (!atomic_compare_exchange_strong(&top, &seen, mine));
    seen = atomic_load(&top);
    while (seen && !atomic_compare_exchange_strong(&top, &seen, seen->next)) {
    }
    return seen;
}

int main(void) {
    run(N, work);
    assert(!atomic_load(&top));
}
