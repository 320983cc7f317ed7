// Double-checked locking with a plain flag.
// expect: violated race
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
static atomic_bool is_made;
#else
static bool is_made;
#endif
static int object;

static void *get(void *unused) {
    if (!is_made) {
        pthread_mutex_lock(&mutex);
        if (!is_made) {
            object = 42;
            is_made = true;
        }
        pthread_mutex_unlock(&mutex);
    }
    assert(object == 42);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, get, 0);
    pthread_create(&two, 0, get, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
