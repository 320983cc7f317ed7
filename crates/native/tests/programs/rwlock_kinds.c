/* A reader comes in twice while a writer wants the lock: KIND says which of the two comes first. The kind
   that prefers writers would let the reader wait for ever. */
#define _GNU_SOURCE
#include <pthread.h>

#ifndef KIND
#define KIND PTHREAD_RWLOCK_DEFAULT_NP
#endif

#ifdef STATIC
static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
static pthread_rwlock_t lock;
#endif

static int value;

static void *read_twice(void *argument) {
    (void)argument;
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    return (void *)(long)seen;
}

static void *change(void *argument) {
    (void)argument;
    pthread_rwlock_wrlock(&lock);
    value = 1;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
#ifndef STATIC
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, KIND);
    pthread_rwlock_init(&lock, &attributes);
#endif
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, read_twice, NULL);
    pthread_create(&threads[1], NULL, change, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
