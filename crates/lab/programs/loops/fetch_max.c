/* The greatest of all numbers, by a compare-and-swap that is tried again until it is not needed. */
#include "threads.h"

static atomic_int highest;

static void *work(void *arg) {
    int mine = (int)(long)arg + 1;
    int seen = atomic_load(&highest);
    while (seen < mine && !atomic_compare_exchange_strong(&highest, &seen, mine)) {
    }
    return arg;
}

int main(void) {
    run(N, work);
    assert(atomic_load(&highest) == N);
}
