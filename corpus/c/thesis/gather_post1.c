// Message passing: a gather is registered while messages are posted. Who posts looks for it before
// the message is in the port, who registers counts the messages before the gather is there.
// expect: violated deadlock
// expect -DFIXED: holds
#include "port.h"

#ifndef ROUNDS
#define ROUNDS 5
#endif

enum { POSTERS = 2 };

static atomic_int is_registered;
static atomic_int n_posted;
static port handled = PORT;
static port trace = PORT;

static void *poster(void *unused) {
#ifdef FIXED
    int posted = atomic_fetch_add(&n_posted, 1) + 1;
    int registered = atomic_load(&is_registered);
#else
    int registered = atomic_load(&is_registered); // Planted: looks too early.
    int posted = atomic_fetch_add(&n_posted, 1) + 1;
#endif
    if (registered && posted == POSTERS)
        post(&handled, 1);
    for (int round = 0; round < ROUNDS; round++)
        post(&trace, round);
    return unused;
}

static void *gatherer(void *unused) {
#ifdef FIXED
    atomic_store(&is_registered, 1);
    int posted = atomic_load(&n_posted);
#else
    int posted = atomic_load(&n_posted);
    atomic_store(&is_registered, 1);
#endif
    if (posted == POSTERS)
        post(&handled, 1);
    receive(&handled);
    for (int round = 0; round < ROUNDS; round++)
        post(&trace, round);
    return unused;
}

int main(void) {
    pthread_t threads[POSTERS + 1];
    for (int idx = 0; idx < POSTERS; idx++)
        pthread_create(&threads[idx], 0, poster, 0);
    pthread_create(&threads[POSTERS], 0, gatherer, 0);
    for (int idx = 0; idx <= POSTERS; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
