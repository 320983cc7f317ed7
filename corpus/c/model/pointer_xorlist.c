// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int main(void) {
    int a = 1, b = 2;
    uintptr_t x = (uintptr_t)&a^(uintptr_t)&b;
    int *p = (int *)(x^(uintptr_t)&a);
    assert(*p == 2);
}
