/* A counting semaphore of N - 1 permits that threads wait for, by a compare-and-swap. */
#include "threads.h"

static atomic_int permits = N - 1, inside;

static void *work(void *arg) {
    int seen;
    do {
        while ((seen = atomic_load(&permits)) == 0) {
        }
    } while (!atomic_compare_exchange_strong(&permits, &seen, seen - 1));
    assert(atomic_fetch_add(&inside, 1) < N - 1);
    atomic_fetch_sub(&inside, 1);
    atomic_fetch_add(&permits, 1);
    return arg;
}

int main(void) { run(N, work); }
