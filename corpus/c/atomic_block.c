// Atomic blocks around plain accesses do not race with each other.
// expect: holds
// expect -DWRONG: violated assertion
// vm: the words of the software verification competition
#include "threads.h"

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
static int counter, seen;
static void *count(void *unused) {
    __VERIFIER_atomic_begin();
    counter = counter + 1;
    __VERIFIER_atomic_end();
    return unused;
}
static void *look(void *unused) {
    __VERIFIER_atomic_begin();
    seen = counter;
    __VERIFIER_atomic_end();
    return unused;
}
int main(void) {
    all_three(count, count, look);
    assert(counter == 2);
#ifdef WRONG
    assert(seen != 1);
#endif
    return 0;
}
