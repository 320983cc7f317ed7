// Interleaved, one of the two sees the other.
// expect: holds
// expect -DNEITHER: violated assertion
#include "threads.h"
static atomic_int x, y;
static int a, b;

static void *first(void *unused) {
    x = 1;
    a = y;
    return unused;
}
static void *second(void *unused) {
    y = 1;
    b = x;
    return unused;
}
int main(void) {
    together(first, second);
#ifdef NEITHER
    assert(!(a && b));
#else
    assert(a || b);
#endif
    return 0;
}
