// Nobody reads before both have written; a barrier for three keeps two waiting.
// expect: holds
// expect -DPARTIES=3: violated deadlock
#include "threads.h"
#ifndef PARTIES
#define PARTIES 2
#endif
static pthread_barrier_t barrier;
static int one, two;

static void *first(void *unused) {
    one = 1;
    pthread_barrier_wait(&barrier);
    assert(two == 1);
    return unused;
}
static void *second(void *unused) {
    two = 1;
    pthread_barrier_wait(&barrier);
    assert(one == 1);
    return unused;
}
int main(void) {
    pthread_barrier_init(&barrier, NULL, PARTIES);
    together(first, second);
    return 0;
}
