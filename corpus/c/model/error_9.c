// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
// expect: violated assertion
#include "verifier.h"
void __VERIFIER_error_(void);
int reach_error(int a) {
    return a;
}
int main(void) {
    int x = reach_error(3);
    return x;
}
