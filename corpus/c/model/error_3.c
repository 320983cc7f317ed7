// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
// expect: violated assertion
#include "verifier.h"
void reach_error(void) {
    exit(0);
}
int main(void) {
    void(*f)(void) = reach_error;
    f();
    return 0;
}
