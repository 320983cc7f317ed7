/* A ticket lock: each thread waits until its number is served. */
#include "threads.h"

static atomic_int next, serving;
static int inside;

static void *work(void *arg) {
    int me = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != me) {
    }
    inside++;
    atomic_store(&serving, me + 1);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
