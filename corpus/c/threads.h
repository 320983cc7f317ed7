// What the programs beside it have in common: threads that start, run and are waited for.
#ifndef THREADS_H
#define THREADS_H
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef void *(*Thread)(void *);

// Runs two threads to their ends.
static inline void together(Thread first, Thread second) {
    pthread_t one, two;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

// Runs three threads to their ends.
static inline void all_three(Thread first, Thread second, Thread third) {
    pthread_t one;
    pthread_create(&one, NULL, first, NULL);
    together(second, third);
    pthread_join(one, NULL);
}
#endif
