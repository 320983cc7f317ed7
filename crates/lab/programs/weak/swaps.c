// Each thread tries to swap its number in, and then stores another one.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static atomic_int variable;

static void *run(void *argument) {
    int me = 1 + (int)(intptr_t)argument, expected = 0;
    atomic_compare_exchange_strong_explicit(&variable, &expected, me, memory_order_acq_rel,
                                            memory_order_acquire);
    atomic_store_explicit(&variable, me + N, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, run, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
