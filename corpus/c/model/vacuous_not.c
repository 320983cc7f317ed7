// Assumptions that no execution survives are told.
// expect: holds
// arguments: --nondet -2..2
// says: !assumption at
#include "verifier.h"
int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n>0);
    assert(n>0);
}
