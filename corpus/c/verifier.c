// The words of the software verification competition.
// expect: holds
// expect -DREACHABLE: violated assertion
// vm: these words
#include "threads.h"

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern unsigned char __VERIFIER_nondet_uchar(void);
void reach_error(void) {
    assert(0);
}
static volatile int counter;
static void *work(void *unused) {
    __VERIFIER_atomic_begin();
    counter = counter + 1;
    __VERIFIER_atomic_end();
    return unused;
}
int main(void) {
    unsigned char limit = __VERIFIER_nondet_uchar();
#ifdef REACHABLE
    __VERIFIER_assume(limit < 4);
#else
    __VERIFIER_assume(limit >= 2 && limit < 4);
#endif
    together(work, work);
    if (counter > limit)
        reach_error();
    return 0;
}
