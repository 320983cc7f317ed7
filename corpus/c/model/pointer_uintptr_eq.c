// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int x, y;
int main(void) {
    int *p = &x, *q = &x;
    assert((uintptr_t)p == (uintptr_t)q);
    q = &y;
    assert((uintptr_t)p != (uintptr_t)q);
    assert((int)(long)p != 0);
    assert((int)(long)p != (int)(long)q);
}
