// A counter under a spin lock.
// expect: holds
#include "threads.h"

static int counter;
static pthread_spinlock_t lock;
static void *work(void *unused) {
    pthread_spin_lock(&lock);
    counter++;
    pthread_spin_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    together(work, work);
    assert(counter == 2);
    return 0;
}
