/* A thread is cancelled where it waits. WHERE: 0 condition variable, 1 semaphore, 2 join, 3 sleep,
   4 it asks, 5 it does not want to be. FORGETS has no handler that gives the mutex back. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#ifndef WHERE
#define WHERE 0
#endif
#ifndef FORGETS
#define FORGETS 0
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
static sem_t semaphore, never;
static int ready, cleaned;

static void give_back(void *argument) {
    cleaned++;
    pthread_mutex_unlock(argument);
}

static void note(void *argument) {
    (void)argument;
    cleaned++;
}

static void *stay(void *argument) {
    sem_wait(&never);
    return argument;
}

static void *work(void *argument) {
    pthread_t other;
    switch (WHERE) {
    case 0:
        pthread_mutex_lock(&mutex);
        if (FORGETS) {
            while (!ready) pthread_cond_wait(&condvar, &mutex);
        } else {
            pthread_cleanup_push(give_back, &mutex);
            while (!ready) pthread_cond_wait(&condvar, &mutex);
            pthread_cleanup_pop(0);
        }
        pthread_mutex_unlock(&mutex);
        break;
    case 1:
        pthread_cleanup_push(note, NULL);
        sem_wait(&semaphore);
        pthread_cleanup_pop(0);
        break;
    case 2:
        pthread_create(&other, NULL, stay, NULL);
        pthread_cleanup_push(note, NULL);
        pthread_join(other, NULL);
        pthread_cleanup_pop(0);
        break;
    case 3:
        pthread_cleanup_push(note, NULL);
        usleep(1);
        pthread_cleanup_pop(0);
        break;
    case 4:
        pthread_cleanup_push(note, NULL);
        pthread_testcancel();
        pthread_cleanup_pop(0);
        break;
    case 5: {
        int before = 7;
        assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before) == 0);
        assert(before == PTHREAD_CANCEL_ENABLE);
        assert(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL) == 0);
        sem_wait(&semaphore);
        pthread_testcancel();
        break;
    }
    default:
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    }
    return argument;
}

int main(void) {
    pthread_t thread;
    void *result;
    sem_init(&semaphore, 0, 0);
    sem_init(&never, 0, 0);
    pthread_create(&thread, NULL, work, &ready);
    if (WHERE == 0) {
        pthread_mutex_lock(&mutex);
        ready = FORGETS;
        pthread_cond_signal(&condvar);
        pthread_mutex_unlock(&mutex);
    }
    assert(pthread_cancel(thread) == 0);
    if (WHERE == 5) sem_post(&semaphore);
    assert(pthread_join(thread, &result) == 0);
    if (WHERE == 0 && !FORGETS) assert(result == PTHREAD_CANCELED && cleaned == 1);
    if (WHERE == 1 || WHERE == 2) assert(result == PTHREAD_CANCELED && cleaned == 1);
    if (WHERE == 3 || WHERE == 4) assert((result == PTHREAD_CANCELED) == cleaned);
    if (WHERE == 5) assert(result == &ready && cleaned == 0);
    /* Whoever was to be joined by the other one waits until the end. */
    if (WHERE == 2) _exit(0);
    return 0;
}
