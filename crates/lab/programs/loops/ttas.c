/* A lock that is looked at before it is taken by an exchange. */
#include "threads.h"

static atomic_int taken;
static int inside;

static void *work(void *arg) {
    do {
        while (atomic_load(&taken)) {
        }
    } while (atomic_exchange(&taken, 1));
    inside++;
    atomic_store(&taken, 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
