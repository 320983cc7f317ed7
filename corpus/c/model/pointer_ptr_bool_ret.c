// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
#include <stdbool.h>
int x;
bool f(int *p) {
    return p;
}
int g(int *p) {
    return p != 0;
}
int main(void) {
    assert(f(&x));
    assert(!f(0));
    assert(g(&x) == 1);
    bool b = (uintptr_t)&x;
    assert(b);
}
