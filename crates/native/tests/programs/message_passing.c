/* A plain message behind an atomic flag; bytes of one word that belong to different threads. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int flag;
static char bytes[2];

static void *sender(void *unused) {
    bytes[1] = 1;
    message = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sender, 0);
    bytes[0] = 2;
    if (atomic_load_explicit(&flag, memory_order_acquire))
        assert(message == 42);
    pthread_join(thread, 0);
    assert(bytes[0] == 2 && bytes[1] == 1);
    return 0;
}
