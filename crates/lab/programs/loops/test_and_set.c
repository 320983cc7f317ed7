/* A lock that is taken by an exchange, tried again until it was free. */
#include "threads.h"

static atomic_int taken;
static int inside;

static void *work(void *arg) {
    while (atomic_exchange(&taken, 1)) {
    }
    inside++;
    atomic_store(&taken, 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
