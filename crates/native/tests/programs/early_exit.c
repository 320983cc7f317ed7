/* The program ends while a thread runs: what that thread does first still counts. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;

static void *waiter(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condvar, &mutex);
    return unused;
}

static void *work(void *unused) {
    assert(atomic_load(&x) != WRONG);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, waiter, 0);
    pthread_create(&two, 0, work, 0);
    atomic_store(&x, 1);
    exit(0);
}
