/* Peterson's mutual exclusion of two threads, N times each. */
#include "threads.h"

static atomic_int wants[2], turn;
static int inside;

static void *work(void *arg) {
    int me = (long)arg;
    for (int i = 0; i < N; i++) {
        atomic_store(&wants[me], 1);
        atomic_store(&turn, !me);
        while (atomic_load(&wants[!me]) && atomic_load(&turn) == !me) {
        }
        inside++;
        atomic_store(&wants[me], 0);
    }
    return arg;
}

int main(void) {
    run(2, work);
    assert(inside == 2 * N);
}
