/* Two permits for three threads: never three inside. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#ifndef PERMITS
#define PERMITS 2
#endif

static sem_t permits;
static atomic_int inside;

static void *work(void *unused) {
    sem_wait(&permits);
    int others = atomic_fetch_add(&inside, 1);
    assert(others < 2);
    atomic_fetch_sub(&inside, 1);
    sem_post(&permits);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&permits, 0, PERMITS);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    int left;
    sem_getvalue(&permits, &left);
    assert(left == PERMITS);
    assert(sem_trywait(&permits) == 0);
    return 0;
}
