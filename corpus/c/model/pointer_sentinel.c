// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
#define BAD ((void *)-1)
int x;
void *f(int c) {
    return c?BAD:(void *)&x;
}
int main(void) {
    assert(f(1) == BAD);
    assert(f(0) != BAD);
    assert(f(1) != 0);
    assert((long)f(1) == -1);
}
