// A stack without locks; the node is linked by compare-and-swap, or by a store that loses nodes.
// expect: holds
// expect -DSTORE: violated assertion
#include "threads.h"
#include <stdlib.h>
typedef struct Node {
    struct Node *next;
    int value;
} Node;
static _Atomic(Node *) top;
static void push(int value) {
    Node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
#ifdef STORE
    atomic_store(&top, node);
#else
    while (!atomic_compare_exchange_strong(&top, &node->next, node))
        ;
#endif
}

static void *first(void *unused) {
    push(1);
    return unused;
}
static void *second(void *unused) {
    push(2);
    return unused;
}
int main(void) {
    together(first, second);
    int sum = 0;
    for (Node *node = top, *next; node; node = next) {
        sum += node->value;
        next = node->next;
        free(node);
    }
    assert(sum == 3);
    return 0;
}
