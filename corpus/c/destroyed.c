// Things to synchronise on that are used after they were destroyed; or made again before.
// expect -DUSE=pthread_mutex_lock(&mutex): violated memory
// expect -DUSE=pthread_mutex_destroy(&mutex): violated memory
// expect -DUSE=pthread_rwlock_rdlock(&lock): violated memory
// expect -DUSE=pthread_cond_signal(&condition): violated memory
// expect -DUSE=sem_post(&semaphore): violated memory
// expect -DUSE=pthread_barrier_wait(&barrier): violated memory
// expect -DUSE=make(): holds
// vm: misuse
#include "threads.h"
#include <semaphore.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t lock;
static pthread_cond_t condition;
static sem_t semaphore;
static pthread_barrier_t barrier;

static void make(void) {
    pthread_mutex_init(&mutex, 0);
    pthread_rwlock_init(&lock, 0);
    pthread_cond_init(&condition, 0);
    sem_init(&semaphore, 0, 1);
    pthread_barrier_init(&barrier, 0, 1);
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    sem_wait(&semaphore);
    sem_post(&semaphore);
    pthread_barrier_wait(&barrier);
}

int main(void) {
    make();
    pthread_mutex_destroy(&mutex);
    pthread_rwlock_destroy(&lock);
    pthread_cond_destroy(&condition);
    sem_destroy(&semaphore);
    pthread_barrier_destroy(&barrier);
    USE;
    return 0;
}
