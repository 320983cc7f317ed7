// A controller sends two cars to their floors, one after the other; all wait for their turn by
// spinning. The turn is given before the floor is.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turn = -1, target;

static void *car(void *number) {
    int me = (int)(long)number;
    while (atomic_load(&turn) != me) __builtin_ia32_pause();
    assert(atomic_load(&target) == 10 + me);
    atomic_store(&turn, -1);
    return 0;
}

int main(void) {
    pthread_t cars[2];
    for (long i = 0; i < 2; i++) pthread_create(&cars[i], 0, car, (void *)i);
    for (int i = 0; i < 2; i++) {
        while (atomic_load(&turn) != -1) __builtin_ia32_pause();
#ifdef FIXED
        atomic_store(&target, 10 + i);
        atomic_store(&turn, i);
#else
        atomic_store(&turn, i);
        atomic_store(&target, 10 + i);
#endif
    }
    for (int i = 0; i < 2; i++) pthread_join(cars[i], 0);
    return 0;
}
