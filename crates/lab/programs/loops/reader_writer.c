/* A spin lock for readers and writers: readers add 2, a writer adds 1; each thread is both in turn. */
#include "threads.h"

static atomic_int state;
static int data;

static void *work(void *arg) {
    int seen;
    for (;;) {
        seen = atomic_load(&state);
        if (!(seen & 1) && atomic_compare_exchange_strong(&state, &seen, seen + 2)) break;
    }
    int before = data;
    atomic_fetch_sub(&state, 2);
    for (;;) {
        seen = 0;
        if (atomic_compare_exchange_strong(&state, &seen, 1)) break;
    }
    data++;
    atomic_store(&state, 0);
    return (void *)(long)before;
}

int main(void) {
    run(N, work);
    assert(data == N);
}
