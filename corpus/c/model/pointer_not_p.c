// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int main(void) {
    int x;
    int *p = &x, *n = 0;
    assert(!n);
    assert(!!p);
    assert(p && 1);
    _Bool b = p;
    assert(b == 1);
    _Bool c = n;
    assert(c == 0);
    assert((_Bool)(long)p);
}
