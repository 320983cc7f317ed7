// Three who raise their flag and look at the others: right for two of them, or for all.
// expect: holds
// expect -DONE_NEIGHBOUR: violated assertion
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}

static atomic_int flag[3];
static void *visit(int me) {
    atomic_store(&flag[me], 1);
#ifdef ONE_NEIGHBOUR
    int is_free = !atomic_load(&flag[(me + 1) % 3]);
#else
    int is_free = !atomic_load(&flag[(me + 1) % 3]) && !atomic_load(&flag[(me + 2) % 3]);
#endif
    if (is_free)
        critical();
    atomic_store(&flag[me], 0);
    return NULL;
}
static void *zero(void *unused) { return visit(0); }
static void *one(void *unused) { return visit(1); }
static void *two(void *unused) { return visit(2); }
int main(void) {
    all_three(zero, one, two);
    return 0;
}
