// Who does not look whether it got the lock.
// expect: violated race
#include "threads.h"

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    int got = pthread_mutex_trylock(&lock);
    counter++;
    if (got == 0)
        pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
