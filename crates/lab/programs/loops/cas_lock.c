/* A lock that is taken by a compare-and-swap. */
#include "threads.h"

static atomic_int taken;
static int inside;

static void *work(void *arg) {
    int expected = 0;
    while (!atomic_compare_exchange_strong(&taken, &expected, 1)) expected = 0;
    inside++;
    atomic_store(&taken, 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
