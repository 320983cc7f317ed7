/* A thread ends while it holds a robust mutex: the next one is told. BLIND does not listen and gives the
   mutex back, after which nobody gets it any more. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#ifndef BLIND
#define BLIND 0
#endif

static pthread_mutex_t mutex;
static int half, whole;

static void *leave(void *argument) {
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) pthread_mutex_consistent(&mutex);
    half = 1;
    return argument;
}

static void *use(void *argument) {
    int error = pthread_mutex_lock(&mutex);
    assert(error == 0 || error == EOWNERDEAD);
    if (error == EOWNERDEAD) {
        assert(half == 1);
        half = 0;
        if (!BLIND) assert(pthread_mutex_consistent(&mutex) == 0);
    }
    whole++;
    pthread_mutex_unlock(&mutex);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    assert(pthread_mutex_consistent(&mutex) == EINVAL);
    pthread_create(&threads[0], NULL, leave, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    int error = pthread_mutex_lock(&mutex);
    /* Who came last has left it. */
    assert(error == (half ? EOWNERDEAD : 0));
    if (half) pthread_mutex_consistent(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
