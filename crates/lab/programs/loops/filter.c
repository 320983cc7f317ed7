/* The filter lock, Peterson's for N threads: at each level one thread stays behind. */
#include "threads.h"

static atomic_int level[N], last[N];
static int inside;

static int must_wait(int me, int at) {
    for (int i = 0; i < N; i++) {
        if (i != me && atomic_load(&level[i]) >= at) return atomic_load(&last[at]) == me;
    }
    return 0;
}

static void *work(void *arg) {
    int me = (long)arg;
    for (int at = 1; at < N; at++) {
        atomic_store(&level[me], at);
        atomic_store(&last[at], me);
        while (must_wait(me, at)) {
        }
    }
    inside++;
    atomic_store(&level[me], 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
