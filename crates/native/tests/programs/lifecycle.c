/* Things to synchronise on that are used before they begin or after they end, each in another way, by the
 * argument; and none of that. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

static int how = -1;
#define IF(number) if (how == (number))

static pthread_barrier_t barrier, early_barrier;
static sem_t semaphore, early_semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condvar = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11_mutex;
static cnd_t c11_condvar;

__attribute__((constructor)) static void initialise(void) {
    pthread_barrier_init(&early_barrier, 0, 2);
    sem_init(&early_semaphore, 0, 1);
}

static void *waits_at_barrier(void *unused) {
    pthread_barrier_wait(&barrier);
    return unused;
}

static void *waits_for_permit(void *unused) {
    sem_wait(&semaphore);
    return unused;
}

static void *locks(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *signals(void *unused) {
    pthread_cond_signal(&condvar);
    return unused;
}

static void *reads(void *unused) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    return unused;
}

static void *posts(void *unused) {
    sem_post(&semaphore);
    return unused;
}

static void *early(void *unused) {
    sem_wait(&early_semaphore);
    sem_post(&early_semaphore);
    pthread_barrier_wait(&early_barrier);
    return unused;
}

/* A condition variable of its own each time, at the same place of the stack. */
__attribute__((noinline)) static void uses_local(void) {
    pthread_cond_t local = PTHREAD_COND_INITIALIZER;
    pthread_cond_signal(&local);
    pthread_cond_destroy(&local);
}

static pthread_t start(void *(*function)(void *)) {
    pthread_t thread;
    pthread_create(&thread, 0, function, 0);
    return thread;
}

int main(int argc, char **argv) {
    if (argc > 1)
        how = atoi(argv[1]);
    /* Never initialised. */
    IF(0) pthread_barrier_wait(&barrier);
    IF(1) sem_post(&semaphore);
    IF(2) sem_wait(&semaphore);
    IF(3) pthread_spin_lock(&spin);
    IF(4) pthread_barrier_destroy(&barrier);
    IF(5) sem_destroy(&semaphore);
    IF(6) sem_trywait(&semaphore);
    /* Destroyed. */
    IF(7) {
        pthread_barrier_init(&barrier, 0, 1);
        pthread_barrier_destroy(&barrier);
        pthread_barrier_wait(&barrier);
    }
    IF(8) {
        sem_init(&semaphore, 0, 1);
        sem_destroy(&semaphore);
        sem_wait(&semaphore);
    }
    IF(9) {
        pthread_mutex_destroy(&mutex);
        pthread_mutex_lock(&mutex);
    }
    IF(10) {
        pthread_cond_destroy(&condvar);
        pthread_cond_broadcast(&condvar);
    }
    IF(11) {
        pthread_rwlock_destroy(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
    }
    IF(12) {
        pthread_spin_init(&spin, 0);
        pthread_spin_destroy(&spin);
        pthread_spin_trylock(&spin);
    }
    IF(13) {
        pthread_cond_destroy(&condvar);
        pthread_mutex_lock(&mutex);
        pthread_cond_wait(&condvar, &mutex);
    }
    IF(14) {
        pthread_mutex_destroy(&mutex);
        pthread_mutex_destroy(&mutex);
    }
    IF(15) {
        pthread_cond_destroy(&condvar);
        pthread_cond_destroy(&condvar);
    }
    /* Destroyed beside another thread that uses it, in some order. */
    IF(16) {
        pthread_barrier_init(&barrier, 0, 2);
        pthread_t thread = start(waits_at_barrier);
        pthread_barrier_destroy(&barrier);
        pthread_join(thread, 0);
    }
    IF(17) {
        sem_init(&semaphore, 0, 0);
        pthread_t thread = start(waits_for_permit);
        sem_destroy(&semaphore);
        pthread_join(thread, 0);
    }
    IF(18) {
        pthread_t thread = start(locks);
        pthread_mutex_destroy(&mutex);
        pthread_join(thread, 0);
    }
    IF(19) {
        pthread_t thread = start(signals);
        pthread_cond_destroy(&condvar);
        pthread_join(thread, 0);
    }
    IF(20) {
        pthread_t thread = start(reads);
        pthread_rwlock_destroy(&rwlock);
        pthread_join(thread, 0);
    }
    IF(21) {
        sem_init(&semaphore, 0, 0);
        pthread_t thread = start(posts);
        sem_destroy(&semaphore);
        pthread_join(thread, 0);
    }
    IF(22) {
        cnd_init(&c11_condvar);
        cnd_destroy(&c11_condvar);
        cnd_signal(&c11_condvar);
    }
    IF(23) {
        mtx_init(&c11_mutex, mtx_plain);
        mtx_destroy(&c11_mutex);
        mtx_lock(&c11_mutex);
    }
    /* All that is right. */
    IF(-1) {
        for (int i = 0; i < 2; i++) {
            pthread_barrier_init(&barrier, 0, 2);
            sem_init(&semaphore, 0, 0);
            pthread_spin_init(&spin, 0);
            pthread_t one = start(waits_at_barrier), two = start(posts);
            /* Whoever has left may destroy it. */
            pthread_barrier_wait(&barrier);
            pthread_barrier_destroy(&barrier);
            sem_wait(&semaphore);
            sem_destroy(&semaphore);
            pthread_spin_lock(&spin);
            pthread_spin_unlock(&spin);
            pthread_spin_destroy(&spin);
            pthread_join(one, 0);
            pthread_join(two, 0);
            uses_local();
        }
        pthread_t thread = start(early);
        early(0);
        pthread_join(thread, 0);
        pthread_mutex_destroy(&mutex);
        pthread_mutex_init(&mutex, 0);
        locks(0);
        pthread_cond_destroy(&condvar);
        pthread_cond_init(&condvar, 0);
        signals(0);
        pthread_rwlock_destroy(&rwlock);
        pthread_rwlock_init(&rwlock, 0);
        reads(0);
    }
    return 0;
}
