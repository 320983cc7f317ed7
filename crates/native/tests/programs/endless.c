/* One order of the threads leads into a loop that touches nothing. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *raise(void *unused) {
    atomic_store(&flag, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, raise, 0);
    if (atomic_load(&flag))
        for (;;)
            __asm__ volatile("");
    pthread_join(thread, 0);
    return 0;
}
