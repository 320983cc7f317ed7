/* A plain counter that two threads raise through a function. */
#include <pthread.h>

static int counters[4];

__attribute__((noinline)) static void raise_it(int *counter) {
    *counter += 1;
}

static void *work(void *unused) {
    raise_it(&counters[2]);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
