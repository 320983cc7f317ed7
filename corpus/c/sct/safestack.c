// A free list of indices, popped by compare-and-swap: an index that was popped and pushed again
// meanwhile looks as if nothing had happened.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 3
#define NONE N

// The lower byte is the first index; the rest counts the changes, if that is wanted.
static atomic_uint head;
static atomic_uint next[N];
static atomic_int owners[N];

static unsigned changed(unsigned seen, unsigned first) {
#ifdef FIXED
    return (seen & ~0xffu) + 0x100 + first;
#else
    return first;
#endif
}

static unsigned pop(void) {
    for (int tries = 0; tries < 2; tries++) {
        unsigned seen = atomic_load(&head), first = seen & 0xff;
        if (first == NONE) return NONE;
        unsigned then = atomic_load(&next[first]);
        if (atomic_compare_exchange_strong(&head, &seen, changed(seen, then))) {
            assert(atomic_fetch_add(&owners[first], 1) == 0);
            return first;
        }
    }
    return NONE;
}

static void push(unsigned first) {
    atomic_fetch_sub(&owners[first], 1);
    unsigned seen = atomic_load(&head);
    do {
        atomic_store(&next[first], seen & 0xff);
    } while (!atomic_compare_exchange_strong(&head, &seen, changed(seen, first)));
}

static void *once(void *unused) {
    pop();
    pop();
    return unused;
}

static void *again(void *unused) {
    unsigned a = pop(), b = pop();
    if (a != NONE) push(a);
    (void)b;
    return unused;
}

int main(void) {
    pthread_t one, two;
    for (unsigned i = 0; i < N; i++) atomic_store(&next[i], i + 1);
    pthread_create(&one, 0, once, 0);
    pthread_create(&two, 0, again, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
