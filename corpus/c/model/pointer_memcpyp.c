// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
#include <string.h>
int main(void) {
    int x = 3;
    int *p = &x, *q;
    uintptr_t u;
    memcpy(&q, &p, sizeof p);
    memcpy(&u, &p, 8);
    assert(q == p && *q == 3 && u == (uintptr_t)p);
}
