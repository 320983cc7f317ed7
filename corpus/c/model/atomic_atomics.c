// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
#include "verifier.h"
_Atomic int x;
void __VERIFIER_atomic_f(void) {
    x = x+1;
}
void *w(void *_) {
    __VERIFIER_atomic_f();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    __VERIFIER_atomic_f();
    pthread_join(a, 0);
    assert(x == 2);
}
