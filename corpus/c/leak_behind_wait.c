// A thread ends while another waits for some time: the program goes on, and frees what it has.
// expect --property=leak: holds
// expect -DKEEPS --property=leak: violated leak
// vm: blocks that are never freed are looked for by the machine alone
#include "threads.h"
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void *waits(void *argument) {
    struct timespec soon = {0, 1};
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&ready, &mutex, &soon);
    pthread_mutex_unlock(&mutex);
    return argument;
}
static void *ends(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t waiter, ender;
    void *block;
    pthread_create(&waiter, 0, waits, malloc(1));
    pthread_create(&ender, 0, ends, 0);
    pthread_join(waiter, &block);
    pthread_join(ender, 0);
#ifndef KEEPS
    free(block);
#endif
    return 0;
}
