// A mutex of one word, as in Drepper's "Futexes are tricky": 0 free, 1 taken, 2 taken and wanted.
// LOST=1 forgets to wake; ONE=1 has two threads sleep and wakes one of them.
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef LOST
#define LOST 0
#endif
#ifndef SLEEPERS
#define SLEEPERS 0
#endif
#ifndef WAKE
#define WAKE 1
#endif

static atomic_int word;
static int counter;

static long futex(int operation, int value) {
    return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void lock(void) {
    int found = 0;
    if (atomic_compare_exchange_strong(&word, &found, 1)) return;
    while (atomic_exchange(&word, 2) != 0) futex(FUTEX_WAIT, 2);
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2 && !LOST) futex(FUTEX_WAKE, 1);
}

static void *work(void *argument) {
    lock();
    counter++;
    unlock();
    return argument;
}

static atomic_int woken;

static void *sleep_once(void *argument) {
    if (futex(FUTEX_WAIT, 0) == 0) atomic_fetch_add(&woken, 1);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, SLEEPERS ? sleep_once : work, NULL);
    }
    if (SLEEPERS) {
        atomic_store(&word, 1);
        long n = futex(FUTEX_WAKE, WAKE);
        assert(n <= 2);
        assert(futex(FUTEX_WAIT, 0) == -1 && errno == EAGAIN);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    if (!SLEEPERS) assert(counter == 2);
    return 0;
}
