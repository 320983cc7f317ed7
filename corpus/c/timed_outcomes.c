// Waits with a time limit: what they return and what is seen afterwards, in every combination. An
// outcome that can be is a failed assertion, one that cannot be is none.
// expect -DOUTCOME=0: holds
// expect -DOUTCOME=1: violated assertion
// expect -DOUTCOME=2: violated assertion
// expect -DOUTCOME=3: violated assertion
// expect -DTWO -DOUTCOME=0: violated assertion
// expect -DTWO -DOUTCOME=1: violated assertion
// expect -DTWO -DOUTCOME=2: holds
// expect -DSEMAPHORE -DOUTCOME=0: violated assertion
// expect -DSEMAPHORE -DOUTCOME=1: holds
// expect -DSEMAPHORE -DOUTCOME=2: holds
// expect -DSEMAPHORE -DOUTCOME=3: violated assertion
// expect -DLOCK -DOUTCOME=0: violated assertion
// expect -DLOCK -DOUTCOME=2: violated assertion
#include "threads.h"
#include <errno.h>
#include <semaphore.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static const struct timespec soon = {1, 0};
static int flag, outcome;

// Whether it was too late, and what was seen then.
static void *waits(void *unused) {
#if defined(SEMAPHORE)
    outcome = sem_timedwait(&semaphore, &soon) ? 2 : 0;
#elif defined(LOCK)
    int result = pthread_mutex_timedlock(&mutex, &soon);
    outcome = result == ETIMEDOUT ? 2 : 0;
    if (!result)
        pthread_mutex_unlock(&mutex);
#else
    pthread_mutex_lock(&mutex);
    int result = pthread_cond_timedwait(&ready, &mutex, &soon);
#ifdef TWO
    outcome += result == 0;
#else
    outcome = (result == ETIMEDOUT ? 2 : 0) + flag;
#endif
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}
static void *signals(void *unused) {
#if defined(SEMAPHORE)
    sem_post(&semaphore);
#else
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}
int main(void) {
    sem_init(&semaphore, 0, 0);
#ifdef TWO
    all_three(waits, waits, signals);
#else
    together(waits, signals);
#endif
#ifdef SEMAPHORE
    int left;
    sem_getvalue(&semaphore, &left);
    outcome += left;
#endif
    assert(outcome != OUTCOME);
    return 0;
}
