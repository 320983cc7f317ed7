/* Dekker's mutual exclusion of two threads, N times each. */
#include "threads.h"

static atomic_int wants[2], turn;
static int inside;

static void *work(void *arg) {
    int me = (long)arg;
    for (int i = 0; i < N; i++) {
        atomic_store(&wants[me], 1);
        while (atomic_load(&wants[!me])) {
            if (atomic_load(&turn) == me) continue;
            atomic_store(&wants[me], 0);
            while (atomic_load(&turn) != me) {
            }
            atomic_store(&wants[me], 1);
        }
        inside++;
        atomic_store(&turn, !me);
        atomic_store(&wants[me], 0);
    }
    return arg;
}

int main(void) {
    run(2, work);
    assert(inside == 2 * N);
}
