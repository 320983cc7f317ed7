// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
// expect: holds
#include "verifier.h"
void reach_error(void) {
    assert(0);
}
int x;
int main(void) {
    if (x)reach_error();
    void (*f)(void) = reach_error;
    (void)f;
    return 0;
}
