// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int f(int x) {
    return x != 0;
}
int main(void) {
    int *p = malloc(4);
    assert(f(p));
    assert(f((int)(long)p));
    assert(!f(0));
    int *z = 0;
    assert(!f(z));
    free(p);
}
