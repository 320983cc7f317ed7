// Assumptions that no execution survives are told.
// expect: holds
// says: !assumption at
#include "verifier.h"
int x;
int main(void) {
    if (x)__VERIFIER_assume(0);
    return 0;
}
