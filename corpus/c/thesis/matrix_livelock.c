// The product of two matrices on futures: who computes a row and who asks for it both step back when
// they see the other, and can do so for ever.
// expect: violated livelock
// options: --max-depth 300 --property livelock
#include "future.h"
#include <sched.h>

static atomic_int is_wanted[2];

// Steps back as long as the other one is there; planted: both may.
static void enter(int own) {
    atomic_store(&is_wanted[own], 1);
    while (atomic_load(&is_wanted[1 - own])) {
        atomic_store(&is_wanted[own], 0);
        sched_yield();
        atomic_store(&is_wanted[own], 1);
    }
}

static void *worker(void *argument) {
    int own = (int)(long)argument;
    enter(own);
    atomic_store(&is_wanted[own], 0);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (long idx = 0; idx < 2; idx++)
        pthread_create(&threads[idx], 0, worker, (void *)idx);
    for (int idx = 0; idx < 2; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
