// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int x;
int main(void) {
    int *p = &x, *n = NULL;
    assert(p>n);
    assert(!(n>p));
    assert((uintptr_t)n == 0);
    assert((int *)0 == n);
}
