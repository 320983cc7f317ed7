// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int f(void) {
    return 3;
}
int main(void) {
    uintptr_t u = (uintptr_t)f;
    assert(u);
    int(*g)(void) = (int(*)(void))u;
    assert(g() == 3);
    if (!f)assert(0);
    assert((int)(long)f);
}
