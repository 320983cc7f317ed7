/* A sequence lock: a writer of two rounds, N readers that read again when they were disturbed. */
#include "threads.h"

static atomic_int sequence, data;

static void *work(void *arg) {
    if ((long)arg == N) {
        for (int k = 0; k < 2; k++) {
            atomic_store(&sequence, 2 * k + 1);
            atomic_store(&data, k + 1);
            atomic_store(&sequence, 2 * k + 2);
        }
        return arg;
    }
    for (;;) {
        int before = atomic_load(&sequence);
        if (before & 1) continue;
        int seen = atomic_load(&data);
        if (atomic_load(&sequence) == before) {
            assert(seen == before / 2);
            return arg;
        }
    }
}

int main(void) { run(N + 1, work); }
