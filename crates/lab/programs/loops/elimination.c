/* An exchanger of one slot: of two threads that meet there, each leaves with what the other has.
 * The others give up. */
#include "threads.h"

static atomic_int slot, got[N];

static void *work(void *arg) {
    int me = (int)(long)arg + 1, found = 0;
    if (atomic_compare_exchange_strong(&slot, &found, me)) {
        int mine = me;
        if (!atomic_compare_exchange_strong(&slot, &mine, 0)) {
            atomic_store(&got[me - 1], mine - 100);
            atomic_store(&slot, 0);
        }
    } else if (found < 100 && atomic_compare_exchange_strong(&slot, &found, 100 + me)) {
        atomic_store(&got[me - 1], found);
    }
    return arg;
}

int main(void) {
    run(N, work);
    for (int i = 0; i < N; i++) {
        int other = atomic_load(&got[i]);
        assert(!other || atomic_load(&got[other - 1]) == i + 1);
    }
}
