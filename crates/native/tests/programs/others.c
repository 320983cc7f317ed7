/* Barriers, once, reader-writer locks, recursive and error-checking mutexes, trylock. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int slots[2], n_once, protected;

static void initialise(void) {
    n_once++;
}

static void *work(void *number) {
    long me = (long)number;
    pthread_once(&once, initialise);
    assert(n_once == 1);
    slots[me] = 1;
    pthread_barrier_wait(&barrier);
    assert(slots[1 - me] == 1);
    if (me) {
        pthread_rwlock_wrlock(&lock);
        protected++;
        pthread_rwlock_unlock(&lock);
    } else {
        pthread_rwlock_rdlock(&lock);
        assert(protected == 0 || protected == 1);
        pthread_rwlock_unlock(&lock);
    }
    usleep(10);
    pthread_mutex_lock(&recursive);
    assert(pthread_mutex_trylock(&recursive) == 0);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_exit((void *)(me + 1));
}

int main(void) {
    pthread_t one, two;
    void *result;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&one, 0, work, (void *)0);
    pthread_create(&two, 0, work, (void *)1);
    assert(pthread_mutex_lock(&checking) == 0);
    assert(pthread_mutex_lock(&checking) == EDEADLK);
    assert(pthread_mutex_unlock(&checking) == 0);
    pthread_join(one, &result);
    assert(result == (void *)1);
    pthread_join(two, &result);
    assert(result == (void *)2);
    srand(1);
    return rand() < 0;
}
