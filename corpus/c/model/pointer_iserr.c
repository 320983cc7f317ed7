// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int x;
int main(void) {
    void *p = &x;
    assert(!((unsigned long)p >= (unsigned long)-4095));
    p = (void *)-12L;
    assert((unsigned long)p >= (unsigned long)-4095);
    assert((long)p == -12);
}
