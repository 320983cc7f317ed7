// Flags that are looked at before they are raised.
// expect: violated assertion
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int flag[2];
static void visit(int me) {
    int other = 1 - me;
    if (atomic_load(&flag[other]))
        return;
    atomic_store(&flag[me], 1);
    critical();
    atomic_store(&flag[me], 0);
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
