/* Threads that do something before their first operation, or have none. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turns;
static int one = 1;

static void *work(void *argument) {
    long how = (long)argument;
    int *nowhere = (int *)8;
    assert(how != 1);
    if (how == 2)
        *nowhere = one;
    if (how == 3)
        pthread_exit(0);
    atomic_exchange(&turns, 1);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, work, (void *)HOW);
    if (HOW == 4) {
        pthread_create(&second, 0, work, 0);
        pthread_exit(0);
    }
    atomic_exchange(&turns, 2);
    pthread_join(first, 0);
    return 0;
}
