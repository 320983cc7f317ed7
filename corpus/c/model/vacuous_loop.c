// Assumptions that no execution survives are told.
// expect: holds
// arguments: --nondet 0..2
// says: !assumption at
#include "verifier.h"
int main(void) {
    for (int i = 0;i<3;i++) {
        int n = __VERIFIER_nondet_int();
        __VERIFIER_assume(n == i);
    }
    return 0;
}
