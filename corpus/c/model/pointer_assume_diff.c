// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated assertion
#include "verifier.h"
int x;
int main(void) {
    int *p = &x;
    __VERIFIER_assume((long)p);
    __VERIFIER_assume((int)(long)p);
    __VERIFIER_assume(!!p);
    __VERIFIER_assume(p != NULL);
    assert(0);
}
