/* One order of the threads writes to nowhere, overflows the stack, aborts, or divides by zero. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static int value;
static _Atomic(int *) pointer = &value;
volatile int ten = 10, zero;

static int deep(int depth) {
    volatile char room[1000];
    room[depth % 1000] = 1;
    return deep(depth + 1) + room[0];
}

static void *spoil(void *unused) {
    atomic_store(&pointer, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, spoil, 0);
    int *seen = atomic_load(&pointer);
    if (!seen) {
        if (HOW == 0)
            *(int *)8 = 1;
        else if (HOW == 1)
            return deep(0);
        else if (HOW == 2)
            abort();
        else
            return ten / zero;
    }
    pthread_join(thread, 0);
    return 0;
}
