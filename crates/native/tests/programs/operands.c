/* A loop whose next try writes something else than the one before. What it writes is in no variable:
 * only the call is given it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken = 1, number = 7;

static void *work(void *arg) {
    int mine = 5, free = 0;
    while (!atomic_compare_exchange_strong(&taken, &free, mine)) {
        mine = atomic_load(&number);
        free = 0;
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    atomic_store(&taken, 0);
    pthread_join(thread, 0);
    assert(atomic_load(&taken) != WRONG);
}
