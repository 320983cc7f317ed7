// A lock taken by compare-and-swap; expecting the wrong value, everybody gets in.
// expect: holds
// expect -DWRONG: violated assertion
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int lock;
static void visit(int me) {
    int other = 1 - me;
    (void)other;
    int expected = 0;
#ifdef WRONG
    expected = atomic_load(&lock);
#endif
    if (!atomic_compare_exchange_strong(&lock, &expected, 1))
        return;
    critical();
    atomic_store(&lock, 0);
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
