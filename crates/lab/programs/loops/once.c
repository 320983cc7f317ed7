/* What is done once: the first thread does it, all others wait until it is done. */
#include "threads.h"

static atomic_int state;
static int value;

static void *work(void *arg) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&state, &expected, 1)) {
        value = 1;
        atomic_store(&state, 2);
    } else {
        while (atomic_load(&state) != 2) {
        }
    }
    assert(value == 1);
    return arg;
}

int main(void) { run(N, work); }
