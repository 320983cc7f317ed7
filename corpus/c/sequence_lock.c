// A counter that is odd while the pair is being written.
// expect: holds
// expect -DNO_CHECK: violated assertion
#include "threads.h"
static atomic_int sequence, left, right;

static void *first(void *unused) {
    sequence++;
    left = 1;
    right = 1;
    sequence++;
    return unused;
}
static void *second(void *unused) {
    int before = sequence;
    int l = left, r = right;
#ifndef NO_CHECK
    if (before % 2 == 0 && sequence == before)
#endif
        assert(l == r);
    (void)before;
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
