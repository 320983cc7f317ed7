// Peterson's algorithm; without its turn, both may wait for ever.
// expect: holds
// expect -DBROKEN: violated deadlock
// expect -DTURN=me: violated assertion
#include "threads.h"
// Whom a thread lets go first.
#ifndef TURN
#define TURN other
#endif

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int flag[2], turn;
static void visit(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    atomic_store(&turn, TURN);
#ifdef BROKEN
    for (int i = 0; i < 2 && atomic_load(&flag[other]); i++)
        if (i == 1) {
            static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
            pthread_mutex_lock(&never);
            pthread_mutex_lock(&never);
        }
#else
    if (atomic_load(&flag[other]) && atomic_load(&turn) == other)
        return (void)atomic_store(&flag[me], 0);
#endif
    critical();
    atomic_store(&flag[me], 0);
}
static void *first(void *unused) {
    visit(0);
    return unused;
}
static void *second(void *unused) {
    visit(1);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
