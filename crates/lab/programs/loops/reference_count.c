/* A count of references: N threads take one if any is left, by a compare-and-swap that is tried
 * again, and the last to give one back frees. */
#include "threads.h"

static atomic_int count = 1;
static int value;

static void drop(void) {
    if (atomic_fetch_sub(&count, 1) == 1) value = -1;
}

static void *work(void *arg) {
    if ((long)arg == N) {
        drop();
        return arg;
    }
    int seen = atomic_load(&count);
    while (seen && !atomic_compare_exchange_strong(&count, &seen, seen + 1)) {
    }
    if (seen) {
        assert(value == 0);
        drop();
    }
    return arg;
}

int main(void) {
    run(N + 1, work);
    assert(value == -1);
}
