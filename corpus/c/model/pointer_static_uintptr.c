// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int y;
uintptr_t u = (uintptr_t)&y;
uintptr_t v = (uintptr_t)&y+4;
int main(void) {
    assert(u == (uintptr_t)&y);
    assert(v == u+4);
    *(int *)u = 3;
    assert(y == 3);
}
