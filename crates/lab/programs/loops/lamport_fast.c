/* Lamport's fast mutual exclusion: five accesses if no other thread comes. */
#include "threads.h"

static atomic_int wants[N], x, y;
static int inside;

static void *work(void *arg) {
    int me = (long)arg + 1;
    for (;;) {
        atomic_store(&wants[me - 1], 1);
        atomic_store(&x, me);
        if (atomic_load(&y)) {
            atomic_store(&wants[me - 1], 0);
            while (atomic_load(&y)) {
            }
            continue;
        }
        atomic_store(&y, me);
        if (atomic_load(&x) == me) break;
        atomic_store(&wants[me - 1], 0);
        for (int i = 0; i < N; i++) {
            while (atomic_load(&wants[i])) {
            }
        }
        if (atomic_load(&y) == me) break;
        while (atomic_load(&y)) {
        }
    }
    inside++;
    atomic_store(&y, 0);
    atomic_store(&wants[me - 1], 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
