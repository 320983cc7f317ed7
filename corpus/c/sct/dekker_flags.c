// Mutual exclusion by two flags, looked at before they are set.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], inside;

static void *work(void *number) {
    int me = (int)(long)number;
#ifdef FIXED
    atomic_store(&wants[me], 1);
    if (atomic_load(&wants[1 - me])) {
        atomic_store(&wants[me], 0);
        return 0;
    }
#else
    if (atomic_load(&wants[1 - me])) return 0;
    atomic_store(&wants[me], 1);
#endif
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&wants[me], 0);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)0L);
    pthread_create(&two, 0, work, (void *)1L);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
