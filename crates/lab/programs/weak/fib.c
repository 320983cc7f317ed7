// Two threads add each other's numbers, with acquire and release.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x = 1, y = 1;

static void *add_y(void *argument) {
    for (int i = 0; i < N; i++) {
        int sum = atomic_load_explicit(&x, memory_order_acquire);
        sum += atomic_load_explicit(&y, memory_order_acquire);
        atomic_store_explicit(&x, sum, memory_order_release);
    }
    return argument;
}

static void *add_x(void *argument) {
    for (int i = 0; i < N; i++) {
        int sum = atomic_load_explicit(&x, memory_order_acquire);
        sum += atomic_load_explicit(&y, memory_order_acquire);
        atomic_store_explicit(&y, sum, memory_order_release);
    }
    return argument;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add_y, 0);
    pthread_create(&other, 0, add_x, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
