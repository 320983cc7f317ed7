// Each thread fills its box and raises its flag; one looks at all flags and into those boxes.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
static int boxes[N];
static atomic_int flags[N];

static void *fill(void *argument) {
    int me = (int)(intptr_t)argument;
    boxes[me] = me;
    atomic_store_explicit(&flags[me], 1, memory_order_release);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    int sum = 0;
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, fill, (void *)(intptr_t)i);
    for (int i = 0; i < N; i++)
        if (atomic_load_explicit(&flags[i], memory_order_acquire))
            sum += boxes[i];
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return sum < 0;
}
