// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: refused
// says: any value in a function that runs atomically
#include "verifier.h"
int x;
void __VERIFIER_atomic_f(void) {
    x = __VERIFIER_nondet_int();
}
int main(void) {
    __VERIFIER_atomic_f();
}
