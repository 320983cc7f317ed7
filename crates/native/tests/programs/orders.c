// A plain message behind a flag: WRITE sets the flag, READ is whether it is seen. What the two say of
// memory orders decides whether the message is a data race.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef WRITE
#define WRITE atomic_store(&flag, 1)
#define READ atomic_load(&flag)
#endif

static int message;
static atomic_int flag;
static int plain_flag;
static __int128 wide_flag;
static struct { long words[4]; } large_flag, one = { { 1, 2, 3, 4 } }, found;

// Orders that no compiler knows.
static volatile int order_of_write = memory_order_release;
static volatile int order_of_read = memory_order_acquire;
static volatile int relaxed = memory_order_relaxed;

static __attribute__((unused)) int fence(int order) {
    atomic_thread_fence(order);
    return 1;
}

// Whether a compare-and-swap has found 1.
static __attribute__((unused)) int finds_1(int expected, int success, int failure) {
    atomic_compare_exchange_strong_explicit(&flag, &expected, 1, success, failure);
    return expected == 1;
}

static __attribute__((unused)) int load_large(int order) {
    __atomic_load(&large_flag, &found, order);
    return found.words[0] == 1;
}

static __attribute__((unused)) int wait_for_flag(int order) {
    while (atomic_load_explicit(&flag, order) == 0)
        syscall(SYS_futex, &flag, FUTEX_WAIT, 0, NULL, NULL, 0);
    return 1;
}

static __attribute__((unused)) void wake(void) {
    syscall(SYS_futex, &flag, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *sender(void *unused) {
    message = 42;
    WRITE;
    return unused;
}

static void *receiver(void *unused) {
    if (READ) message++;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, sender, 0);
    pthread_create(&threads[1], 0, receiver, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
