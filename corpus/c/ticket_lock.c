// A ticket lock: the counter goes up in one step, or in two.
// expect: holds
// expect -DTWO_STEPS: violated assertion
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int next, serving;
static void visit(int me) {
    int other = 1 - me;
    (void)other;
#ifdef TWO_STEPS
    int mine = atomic_load(&next);
    atomic_store(&next, mine + 1);
#else
    int mine = atomic_fetch_add(&next, 1);
#endif
    if (atomic_load(&serving) != mine)
        return;
    critical();
    atomic_fetch_add(&serving, 1);
}
static void *first(void *unused) {
    visit(0);
    return unused;
}
static void *second(void *unused) {
    visit(1);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
