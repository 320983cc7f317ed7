// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int x;
int main(void) {
    int *p = malloc(4);
    assert((long)p>0);
    assert((intptr_t)&x>0);
    assert((long)main>0);
    assert((int)(long)p>0);
    free(p);
    int y;
    assert((long)&y>0);
}
