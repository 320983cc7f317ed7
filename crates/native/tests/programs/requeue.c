/* A condition variable whose broadcast wakes one sleeper and lets the others sleep on the mutex,
   which wakes them one by one. LOST forgets that the mutex has sleepers from then on. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SLEEPERS
#define SLEEPERS 2
#endif
#ifndef LOST
#define LOST 0
#endif
#ifndef COMPARES
#define COMPARES 1
#endif

static atomic_int mutex = 1, sequence;
static int seen;

static long futex(atomic_int *word, int operation, int value, long more, atomic_int *other, int last) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, more, other, last);
}

/* 0 free, 1 taken, 2 taken and wanted. */
static void lock_as(int taken) {
    int found = 0;
    if (taken == 1 && atomic_compare_exchange_strong(&mutex, &found, 1)) return;
    while (atomic_exchange(&mutex, 2) != 0) futex(&mutex, FUTEX_WAIT, 2, 0, NULL, 0);
}

static void unlock(void) {
    if (atomic_exchange(&mutex, 0) == 2) futex(&mutex, FUTEX_WAKE, 1, 0, NULL, 0);
}

static void broadcast(void) {
    atomic_store(&sequence, 1);
    int how = COMPARES ? FUTEX_CMP_REQUEUE : FUTEX_REQUEUE;
    long n = futex(&sequence, how, 1, INT_MAX, &mutex, 1);
    assert(n >= 0 && n <= SLEEPERS);
}

static void *work(void *argument) {
    futex(&sequence, FUTEX_WAIT, 0, 0, NULL, 0);
    /* Whoever is woken may have left others on the mutex. */
    lock_as(LOST ? 1 : 2);
    seen++;
    unlock();
    return argument;
}

int main(void) {
    pthread_t threads[SLEEPERS];
    assert(futex(&sequence, FUTEX_CMP_REQUEUE, 1, 1, &mutex, 7) == -1 && errno == EAGAIN);
    assert(futex(&sequence, FUTEX_CMP_REQUEUE, -1, 1, &mutex, 0) == -1 && errno == EINVAL);
    for (int i = 0; i < SLEEPERS; i++) pthread_create(&threads[i], NULL, work, NULL);
    /* The mutex is taken from the beginning on. */
    broadcast();
    unlock();
    for (int i = 0; i < SLEEPERS; i++) pthread_join(threads[i], NULL);
    assert(seen == SLEEPERS);
    return 0;
}
