// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
// expect: violated assertion
#include "verifier.h"
static void reach_error(void) {
    while (1);
}
int main(void) {
    reach_error();
}
