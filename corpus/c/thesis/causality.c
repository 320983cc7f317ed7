// Message passing: what a message was caused by is kept beside the port and not in the message, so
// that another message can come between the two.
// expect: violated assertion
// expect -DFIXED: holds
#include "port.h"

#ifndef ROUNDS
#define ROUNDS 5
#endif

enum { SENDERS = 2 };

static port requests = PORT;
static port replies[SENDERS] = {PORT, PORT};
static port trace = PORT;
static atomic_int cause;

static void *sender(void *argument) {
    int own = (int)(long)argument;
#ifndef FIXED
    atomic_store(&cause, own); // Planted: the message should carry it.
#endif
    post(&requests, own);
    receive(&replies[own]);
    for (int round = 0; round < ROUNDS; round++)
        post(&trace, round);
    return 0;
}

static void *handler(void *unused) {
    for (int idx = 0; idx < SENDERS; idx++) {
        int message = receive(&requests);
#ifdef FIXED
        atomic_store(&cause, message);
#endif
        assert(atomic_load(&cause) == message);
        post(&replies[message], 0);
    }
    return unused;
}

int main(void) {
    pthread_t threads[SENDERS + 1];
    pthread_create(&threads[0], 0, sender, (void *)0);
    pthread_create(&threads[1], 0, handler, 0);
    pthread_create(&threads[2], 0, sender, (void *)1);
    for (int idx = 0; idx <= SENDERS; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
