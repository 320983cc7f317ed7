// One permit, looked for and taken in two steps or in one.
// expect: violated assertion
// expect -DFIXED: holds
#include "threads.h"
static atomic_int left = 1;
static void take(void) {
#ifdef FIXED
    int seen = atomic_load(&left);
    if (seen > 0)
        atomic_compare_exchange_strong(&left, &seen, seen - 1);
#else
    if (atomic_load(&left) > 0)
        atomic_fetch_sub(&left, 1);
#endif
}

static void *first(void *unused) {
    take();
    return unused;
}
static void *second(void *unused) {
    take();
    return unused;
}
int main(void) {
    together(first, second);
    assert(atomic_load(&left) == 0);
    return 0;
}
