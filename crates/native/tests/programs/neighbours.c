/* A counter stands in the same word of the stack as a flag that another thread sets. Nobody else
   accesses it, so the instrumentation says nothing about it; and it counts the rounds. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int *there;

static void *set(void *arg) {
    atomic_store(there, 1);
    return arg;
}

int main(void) {
    int unused; /* Without optimisation, so the other two are in one word. */
    (void)unused;
#ifdef BEFORE
    int count = 0;
#endif
    atomic_int flag = 0;
#ifndef BEFORE
    int count = 0;
#endif
    there = &flag;
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load(&flag)) count++;
    pthread_join(thread, 0);
    assert(count != 1);
}
