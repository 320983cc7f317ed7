// A lock of one bit, taken by exchange or by load and store.
// expect: holds
// expect -DTWO_STEPS: violated assertion
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
#ifdef TWO_STEPS
    if (atomic_load(&lock))
        return;
    atomic_store(&lock, 1);
#else
    if (atomic_exchange(&lock, 1))
        return;
#endif
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
