// Double-checked locking that raises its flag before the value is there.
// expect: violated race
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_set;
static int value;
static void use(void) {
    if (!is_set) {
        pthread_mutex_lock(&lock);
        if (!is_set) {
            is_set = 1;
            value = 42;
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
