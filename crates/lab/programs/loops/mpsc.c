/* Vyukov's queue of many senders: N threads send, and one takes all that they have sent. */
#include "threads.h"

typedef struct node {
    _Atomic(struct node *) next;
    int value;
} node;

static node nodes[N + 1];
static _Atomic(node *) tail = &nodes[N];

static void *work(void *arg) {
    long me = (long)arg;
    if (me < N) {
        nodes[me].value = 1;
        node *before = atomic_exchange(&tail, &nodes[me]);
        atomic_store(&before->next, &nodes[me]);
        return arg;
    }
    node *last = &nodes[N];
    int sum = 0;
    for (int i = 0; i < N; i++) {
        node *next;
        while (!(next = atomic_load(&last->next))) {
        }
        sum += next->value;
        last = next;
    }
    assert(sum == N);
    return arg;
}

int main(void) { run(N + 1, work); }
