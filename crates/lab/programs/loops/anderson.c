/* Anderson's array lock: each thread waits at a slot of its own. */
#include "threads.h"

static atomic_int next, may_enter[N + 1];
static int inside;

static void *work(void *arg) {
    int slot = atomic_fetch_add(&next, 1);
    while (slot && !atomic_load(&may_enter[slot])) {
    }
    inside++;
    atomic_store(&may_enter[slot + 1], 1);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
