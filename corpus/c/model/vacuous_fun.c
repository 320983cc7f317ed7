// Assumptions that no execution survives are told.
// expect: holds
// says: gets past the assumption at
#include "verifier.h"
void assume(int c) {
    __VERIFIER_assume(c);
}
int main(void) {
    assume(0);
    assert(0);
}
