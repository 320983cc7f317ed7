// Message passing: a gather waits for results and failures, counted apart. Two that come last at
// once both see the gather complete, and its handler runs twice.
// expect: violated assertion
// expect -DFIXED: holds
#include "port.h"

#ifndef ROUNDS
#define ROUNDS 5
#endif

enum { POSTERS = 3 };

static atomic_int n_results;
static atomic_int n_failures;
static atomic_int n_handled;
static port trace = PORT;

static void *poster(void *argument) {
#ifdef FIXED
    int n_come = atomic_fetch_add(&n_results, 1) + 1;
#else
    if ((long)argument == 0)
        atomic_fetch_add(&n_failures, 1);
    else
        atomic_fetch_add(&n_results, 1);
    // Planted: another one may have come in between.
    int n_come = atomic_load(&n_results) + atomic_load(&n_failures);
#endif
    if (n_come == POSTERS) {
        int handled = atomic_fetch_add(&n_handled, 1);
        assert(handled == 0);
    }
    for (int round = 0; round < ROUNDS; round++)
        post(&trace, round);
    return 0;
}

int main(void) {
    pthread_t threads[POSTERS];
    for (long idx = 0; idx < POSTERS; idx++)
        pthread_create(&threads[idx], 0, poster, (void *)idx);
    for (int idx = 0; idx < POSTERS; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
