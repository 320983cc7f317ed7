// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int a[10];
int main(void) {
    uintptr_t d = (uintptr_t)&a[3]-(uintptr_t)&a[1];
    assert(d == 8);
    assert(&a[3]-&a[1] == 2);
    assert((char *)&a[3]-(char *)a == 12);
    int *p = a+3;
    p--;
    assert(p == &a[2]);
    assert((uintptr_t)&a[3]>(uintptr_t)&a[2]);
}
