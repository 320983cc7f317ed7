// A spin lock that is given back by a store.
// expect: holds
// expect -DRELAXED_UNLOCK: violated race
// expect -DRELAXED_LOCK: violated race
#include <pthread.h>
#include <stdatomic.h>
#ifdef RELAXED_UNLOCK
#define UNLOCK memory_order_relaxed
#else
#define UNLOCK memory_order_release
#endif
#ifdef RELAXED_LOCK
#define LOCK memory_order_relaxed
#else
#define LOCK memory_order_acquire
#endif

static atomic_int is_held;
static int data;

static void *work(void *unused) {
    while (atomic_exchange_explicit(&is_held, 1, LOCK))
        ;
    data++;
    atomic_store_explicit(&is_held, 0, UNLOCK);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
