/* Two threads sleep on one futex, with a bit each; who is woken is told by the bits. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static atomic_int woken[2];

static long futex(int operation, int value, unsigned bits) {
    return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, bits);
}

static void *sleep_on(void *which) {
    long idx = (long)which;
    if (futex(FUTEX_WAIT_BITSET, 0, 1u << idx) == 0) atomic_store(&woken[idx], 1);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    assert(futex(FUTEX_WAIT_BITSET, 0, 0) == -1 && errno == EINVAL);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, sleep_on, (void *)i);
    /* Nobody has this bit. */
    assert(futex(FUTEX_WAKE_BITSET, INT_MAX, 4) == 0);
    long first = futex(FUTEX_WAKE_BITSET, ALL ? INT_MAX : 1, 2);
    assert(first == 0 || first == 1);
    assert(!atomic_load(&woken[0]));
    atomic_store(&word, 1);
    /* Those of the other bit, or of any. */
    futex(ALL ? FUTEX_WAKE : FUTEX_WAKE_BITSET, INT_MAX, WAKE);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(first == 0 || atomic_load(&woken[1]));
    return 0;
}
