// Double-checked locking: the flag is atomic and raised last, or there is a race.
// expect: holds
// expect -DPLAIN: violated race
// expect -DEARLY: violated race
#include "threads.h"
#ifdef PLAIN
static int is_set;
#else
static atomic_int is_set;
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;
static void use(void) {
    if (!is_set) {
        pthread_mutex_lock(&lock);
        if (!is_set) {
#ifdef EARLY
            is_set = 1;
            value = 42;
#else
            value = 42;
            is_set = 1;
#endif
        }
        pthread_mutex_unlock(&lock);
    }
    assert(value == 42);
}

static void *first(void *unused) {
    use();
    return unused;
}
static void *second(void *unused) {
    use();
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
