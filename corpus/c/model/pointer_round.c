// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int main(void) {
    int x = 5;
    int *p = &x;
    uintptr_t u = (uintptr_t)p;
    int *q = (int *)u;
    assert(q == p);
    assert(*q == 5);
    *(int *)(uintptr_t)p = 6;
    assert(x == 6);
}
