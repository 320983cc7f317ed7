/* The flag is looked at before the mutex is taken, so the signal may come too early. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *waiter(void *unused) {
    if (!atomic_load(&ready)) {
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&condvar, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, waiter, 0);
    atomic_store(&ready, 1);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condvar);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
    return 0;
}
