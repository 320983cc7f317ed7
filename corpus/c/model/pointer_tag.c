// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int main(void) {
    int *p = malloc(8);
    *p = 3;
    uintptr_t u = (uintptr_t)p|1;
    assert(u&1);
    assert((u&~(uintptr_t)1) == (uintptr_t)p);
    int *q = (int *)(u&~1UL);
    assert(*q == 3);
    free(q);
}
