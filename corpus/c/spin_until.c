// Loops that wait: by reading, by an exchange, by a compare-and-swap, by trying for a lock. They are
// gone round once, and then somebody else has to move; if nobody will, that is a deadlock.
// expect: holds
// expect -DEXCHANGE: holds
// expect -DSWAP: holds
// expect -DTRY: holds
// expect -DTWO: holds
// expect -DFORGET: violated deadlock
// expect -DFORGET -DEXCHANGE: violated deadlock
// expect -DFORGET -DSWAP: violated deadlock
// expect -DFORGET -DTWO: violated deadlock
// expect -DUNLOCKED: violated assertion
#include "threads.h"
#include <sched.h>
static atomic_int lock, inside, passed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
#if defined(UNLOCKED)
    while (atomic_load(&lock))
        ;
    atomic_store(&lock, 1);
#elif defined(EXCHANGE)
    while (atomic_exchange(&lock, 1))
        ;
#elif defined(TRY)
    while (pthread_mutex_trylock(&mutex))
        sched_yield();
#elif defined(TWO)
    for (;;) {
        while (atomic_load(&lock))
            sched_yield();
        if (!atomic_exchange(&lock, 1))
            break;
    }
#else
    int expected = 0;
    while (!atomic_compare_exchange_strong(&lock, &expected, 1))
        expected = 0;
#endif
}
static void leave(void) {
#if defined(FORGET)
#elif defined(TRY)
    pthread_mutex_unlock(&mutex);
#else
    atomic_store(&lock, 0);
#endif
}
static void *visit(void *unused) {
    enter();
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    leave();
    return unused;
}
int main(void) {
    together(visit, visit);
    return 0;
}
