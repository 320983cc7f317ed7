// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated assertion
#include "verifier.h"
int main(void) {
    int *p = malloc(4);
    __VERIFIER_assume(p);
    assert(0);
}
