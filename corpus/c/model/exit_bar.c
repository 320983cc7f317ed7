// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
pthread_barrier_t b;
void *w(void *_) {
    exit(1);
}
int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, w, 0);
    pthread_barrier_wait(&b);
    assert(0);
}
