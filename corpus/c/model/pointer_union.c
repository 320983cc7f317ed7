// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
union u {
    int *p;
    uintptr_t n;
    int h[2];
};
int main(void) {
    int x = 4;
    union u u;
    u.p = &x;
    assert(u.n == (uintptr_t)&x);
    assert(u.h[0] == (int)(uintptr_t)&x);
    u.n |= 1;
    u.n &= ~1ul;
    assert(*u.p == 4);
}
