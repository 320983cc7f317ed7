// A counter under a semaphore with one permit, or with two.
// expect: holds
// expect -DPERMITS=2: violated race
#include "threads.h"

#include <semaphore.h>
#ifndef PERMITS
#define PERMITS 1
#endif
static int counter;
static sem_t lock;
static void *work(void *unused) {
    sem_wait(&lock);
    counter++;
    sem_post(&lock);
    return unused;
}
int main(void) {
    sem_init(&lock, 0, PERMITS);
    together(work, work);
    assert(counter == 2);
    return 0;
}
