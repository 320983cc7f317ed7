// Message passing: a task gives up its thread until a message comes, and whoever posts goes on with
// it. Two who post at once both find it suspended, and it goes on twice.
// expect: violated assertion
// expect -DFIXED: holds
#include "port.h"

#ifndef ROUNDS
#define ROUNDS 4
#endif

enum { POSTERS = 3 };

static atomic_int is_suspended = 1;
static atomic_int n_resumed;
static port trace = PORT;

static void go_on(void) {
    int resumed = atomic_fetch_add(&n_resumed, 1);
    assert(resumed == 0);
}

static void *poster(void *argument) {
#ifdef FIXED
    if (atomic_exchange(&is_suspended, 0))
        go_on();
#else
    if (atomic_load(&is_suspended)) {
        atomic_store(&is_suspended, 0); // Planted: not one step with the look.
        go_on();
    }
#endif
    for (int round = 0; round < ROUNDS; round++)
        post(&trace, round);
    return argument;
}

int main(void) {
    pthread_t threads[POSTERS];
    for (int idx = 0; idx < POSTERS; idx++)
        pthread_create(&threads[idx], 0, poster, 0);
    for (int idx = 0; idx < POSTERS; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
