// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
// expect: violated assertion
#include "verifier.h"
int main(void) {
    __VERIFIER_error();
    return 0;
}
