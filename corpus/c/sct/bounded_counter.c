// A counter that must not go beyond its limit, looked at and raised in two steps.
// expect -DTHREADS=2: violated assertion
// expect -DTHREADS=4: violated assertion
// expect -DTHREADS=3 -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define LIMIT 1

static atomic_int count;

static void *raise_it(void *unused) {
#ifdef FIXED
    int seen = atomic_load(&count);
    while (seen < LIMIT && !atomic_compare_exchange_weak(&count, &seen, seen + 1)) {
    }
#else
    if (atomic_load(&count) < LIMIT) atomic_fetch_add(&count, 1);
#endif
    assert(atomic_load(&count) <= LIMIT);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, raise_it, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
