// A counter under a mutex; with one mutex for each, a race.
// expect: holds
#include "threads.h"

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
