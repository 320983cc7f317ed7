// Message passing: a handler that fails posts its failure to the port of its cause, and the one who
// waits there hears of it whatever the order.
// expect: holds
#include "port.h"

static port requests = PORT;
static port outcomes = PORT;

static void *handler(void *unused) {
    int message = receive(&requests);
    // An odd request is an exception.
    post(&outcomes, message % 2 ? -message : message);
    return unused;
}

static void *sender(void *unused) {
    post(&requests, 1);
    post(&requests, 2);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, handler, 0);
    pthread_create(&threads[1], 0, handler, 0);
    pthread_create(&threads[2], 0, sender, 0);
    int sum = receive(&outcomes) + receive(&outcomes);
    for (int idx = 0; idx < 3; idx++)
        pthread_join(threads[idx], 0);
    assert(sum == 1);
    return 0;
}
