// Assumptions that no execution survives are told.
// expect: holds
// says: gets past
#include "verifier.h"
int x;
int main(void) {
    __VERIFIER_assume(x == 1);
    assert(0);
}
