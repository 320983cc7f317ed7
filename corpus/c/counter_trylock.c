// Who does not get the lock counts elsewhere.
// expect: holds
#include "threads.h"

static int counter;
static atomic_int missed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    if (pthread_mutex_trylock(&lock) == 0) {
        counter++;
        pthread_mutex_unlock(&lock);
    } else {
        missed++;
    }
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter + missed == 2);
    return 0;
}
