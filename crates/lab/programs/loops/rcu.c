/* Read, copy, update, in user space: N readers count in one of two phases, and the writer waits for
 * those of both before it frees what it has replaced. */
#include "threads.h"

static int boxes[2];
static _Atomic(int *) current = &boxes[0];
static atomic_int phase, readers[2];

static void synchronize(void) {
    for (int i = 0; i < 2; i++) {
        int old = atomic_load(&phase);
        atomic_store(&phase, !old);
        while (atomic_load(&readers[old])) {
        }
    }
}

static void *work(void *arg) {
    if ((long)arg < N) {
        int mine = atomic_load(&phase);
        atomic_fetch_add(&readers[mine], 1);
        assert(*atomic_load(&current) >= 0);
        atomic_fetch_sub(&readers[mine], 1);
        return arg;
    }
    int *old = atomic_load(&current);
    atomic_store(&current, &boxes[1]);
    synchronize();
    *old = -1;
    return arg;
}

int main(void) { run(N + 1, work); }
