/* Michael's hazard pointers: N readers protect what they read, a writer replaces it and frees the
 * old one once no reader protects it. */
#include "threads.h"

static int boxes[2];
static _Atomic(int *) current = &boxes[0];
static _Atomic(int *) hazard[N];

static void *work(void *arg) {
    long me = (long)arg;
    if (me < N) {
        int *seen;
        do {
            seen = atomic_load(&current);
            atomic_store(&hazard[me], seen);
        } while (atomic_load(&current) != seen);
        assert(*seen >= 0);
        atomic_store(&hazard[me], 0);
        return arg;
    }
    int *old = atomic_exchange(&current, &boxes[1]);
    for (int i = 0; i < N; i++) {
        while (atomic_load(&hazard[i]) == old) {
        }
    }
    *old = -1;
    return arg;
}

int main(void) { run(N + 1, work); }
