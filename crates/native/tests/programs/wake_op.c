/* As the C library once told a condition variable: one call changes the lock of the inside and wakes at
   two addresses. EARLY looks at the wrong value and wakes nobody at the lock. */
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef EARLY
#define EARLY 0
#endif

/* 0 free, 1 taken, 2 taken and wanted. */
static atomic_int lock = 1, event;
static int message, told;

static long futex(atomic_int *word, int operation, int value, long more, atomic_int *other, int last) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, more, other, last);
}

static void *await_event(void *argument) {
    while (atomic_load(&event) == 0) futex(&event, FUTEX_WAIT, 0, 0, NULL, 0);
    assert(message == 1);
    return argument;
}

static void *await_lock(void *argument) {
    while (atomic_exchange(&lock, 2) != 0) futex(&lock, FUTEX_WAIT, 2, 0, NULL, 0);
    assert(told == 1);
    return argument;
}

int main(void) {
    pthread_t threads[2];
    assert(futex(&event, FUTEX_WAKE_OP, 1, 1, &lock, 5 << 28) == -1 && errno == ENOSYS);
    pthread_create(&threads[0], NULL, await_event, NULL);
    pthread_create(&threads[1], NULL, await_lock, NULL);
    message = 1;
    told = 1;
    atomic_store(&event, 1);
    /* Sets the lock free, and wakes there if it was wanted. */
    int how = FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_GT, EARLY ? 2 : 1);
    long n = futex(&event, FUTEX_WAKE_OP, 1, 1, &lock, how);
    assert(n >= 0 && n <= 2);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
