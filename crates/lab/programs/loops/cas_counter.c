/* A counter that is raised by a compare-and-swap, tried again with what it found. */
#include "threads.h"

static atomic_int count;

static void *work(void *arg) {
    int seen = atomic_load(&count);
    while (!atomic_compare_exchange_strong(&count, &seen, seen + 1)) {
    }
    return arg;
}

int main(void) {
    run(N, work);
    assert(atomic_load(&count) == N);
}
