// Each waits for the other first, or one goes ahead.
// expect: violated deadlock
// expect -DFIXED: holds
#include "threads.h"
#include <semaphore.h>
static sem_t ping, pong;

static void *first(void *unused) {
#ifdef FIXED
    sem_post(&ping);
    sem_wait(&pong);
#else
    sem_wait(&pong);
    sem_post(&ping);
#endif
    return unused;
}
static void *second(void *unused) {
    sem_wait(&ping);
    sem_post(&pong);
    return unused;
}
int main(void) {
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    together(first, second);
    return 0;
}
