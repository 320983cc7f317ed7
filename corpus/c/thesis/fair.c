// Three threads that wait for one another in loops that yield. Unrolled without fairness, one of them
// could wait for ever while the one it waits for never moves; as waits, the loops end.
// expect: holds
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int turn;

static void *player(void *argument) {
    int own = (int)(long)argument;
    while (atomic_load(&turn) != own)
        sched_yield();
    atomic_store(&turn, own + 1);
    while (atomic_load(&turn) != 3)
        sched_yield();
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (long idx = 0; idx < 3; idx++)
        pthread_create(&threads[idx], 0, player, (void *)idx);
    for (int idx = 0; idx < 3; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
