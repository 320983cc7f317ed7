/* Burns's mutual exclusion with one bit for each thread. */
#include "threads.h"

static atomic_int flag[N];
static int inside;

static int is_one_set(int from, int to) {
    for (int i = from; i < to; i++) {
        if (atomic_load(&flag[i])) return 1;
    }
    return 0;
}

static void *work(void *arg) {
    int me = (long)arg;
    for (;;) {
        atomic_store(&flag[me], 0);
        if (is_one_set(0, me)) continue;
        atomic_store(&flag[me], 1);
        if (!is_one_set(0, me)) break;
    }
    for (int i = me + 1; i < N; i++) {
        while (atomic_load(&flag[i])) {
        }
    }
    inside++;
    atomic_store(&flag[me], 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
