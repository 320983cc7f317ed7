// Double-checked locking: the first look is without the mutex, so it has to acquire what the store
// releases.
// expect: holds
// expect -DRELAXED_STORE: violated race
// expect -DRELAXED_LOAD: violated race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifdef RELAXED_STORE
#define STORE memory_order_relaxed
#else
#define STORE memory_order_release
#endif
#ifdef RELAXED_LOAD
#define LOAD memory_order_relaxed
#else
#define LOAD memory_order_acquire
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_made;
static int value;

static int get(void) {
    if (!atomic_load_explicit(&is_made, LOAD)) {
        pthread_mutex_lock(&mutex);
        if (!atomic_load_explicit(&is_made, memory_order_relaxed)) {
            value = 42;
            atomic_store_explicit(&is_made, 1, STORE);
        }
        pthread_mutex_unlock(&mutex);
    }
    return value;
}

static void *work(void *unused) {
    assert(get() == 42);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
