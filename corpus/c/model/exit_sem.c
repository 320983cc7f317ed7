// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
#include <semaphore.h>
sem_t s;
void *w(void *_) {
    exit(0);
}
int main(void) {
    pthread_t t;
    sem_init(&s, 0, 0);
    pthread_create(&t, 0, w, 0);
    sem_wait(&s);
    assert(0);
}
