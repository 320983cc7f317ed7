// Assumptions that no execution survives are told.
// expect: holds
// says: gets past
#include "verifier.h"
int main(void) {
    int *p = 0;
    __VERIFIER_assume(p);
    assert(0);
}
