// A flag that is looked at again and again, each time with the lock: the loop waits, and has an end.
// expect: holds
// expect -DTRIED: violated assertion
// vm: the program itself is searched for other loops
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_ready;

static void *await(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        int seen = is_ready;
        pthread_mutex_unlock(&lock);
        if (seen)
            return unused;
    }
}

#ifdef TRIED
static int is_taken(void) {
    if (pthread_mutex_trylock(&lock))
        return 1;
    pthread_mutex_unlock(&lock);
    return 0;
}
#endif

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, await, 0);
#ifdef TRIED
    // Two rounds of the loop can be seen, though nothing changes in them.
    int n_taken = is_taken();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    n_taken += is_taken();
    assert(n_taken < 2);
#endif
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
