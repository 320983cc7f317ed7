/* The queue lock of Craig, Landin and Hagersten: a thread waits at the node of the one before. */
#include "threads.h"

static atomic_int locked[N + 1];
static atomic_int tail = N;
static int inside;

static void *work(void *arg) {
    int me = (long)arg;
    atomic_store(&locked[me], 1);
    int before = atomic_exchange(&tail, me);
    while (atomic_load(&locked[before])) {
    }
    inside++;
    atomic_store(&locked[me], 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
