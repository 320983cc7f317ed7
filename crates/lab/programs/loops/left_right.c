/* Left-right of Ramalhete and Correia: N readers, and a writer that changes one instance while the
 * readers use the other. */
#include "threads.h"

static int instance[2];
static atomic_int side, version, readers[2];

static void *work(void *arg) {
    if ((long)arg < N) {
        int at = atomic_load(&version);
        atomic_fetch_add(&readers[at], 1);
        int seen = instance[atomic_load(&side)];
        assert(seen == 0 || seen == 1);
        atomic_fetch_sub(&readers[at], 1);
        return arg;
    }
    int old = atomic_load(&side);
    instance[!old] = 1;
    atomic_store(&side, !old);
    int at = atomic_load(&version);
    while (atomic_load(&readers[!at])) {
    }
    atomic_store(&version, !at);
    while (atomic_load(&readers[at])) {
    }
    instance[old] = 1;
    return arg;
}

int main(void) { run(N + 1, work); }
