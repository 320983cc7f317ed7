/* The queue of Michael and Scott with two locks: N threads enqueue, one dequeues N times. */
#include "threads.h"

typedef struct node {
    _Atomic(struct node *) next;
    int value;
} node;

static node nodes[N + 1];
static node *head = &nodes[N], *tail = &nodes[N];
static atomic_int tail_lock, head_lock;

static void take(atomic_int *lock) {
    while (atomic_exchange(lock, 1)) {
    }
}

static void *work(void *arg) {
    long me = (long)arg;
    if (me < N) {
        nodes[me].value = 1;
        take(&tail_lock);
        atomic_store(&tail->next, &nodes[me]);
        tail = &nodes[me];
        atomic_store(&tail_lock, 0);
        return arg;
    }
    for (int i = 0; i < N; i++) {
        take(&head_lock);
        node *next = atomic_load(&head->next);
        if (next) {
            assert(next->value == 1);
            head = next;
        }
        atomic_store(&head_lock, 0);
    }
    return arg;
}

int main(void) { run(N + 1, work); }
