// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
// arguments: --races allow
#include "verifier.h"
int m, x;
void __VERIFIER_atomic_acq(void) {
    __VERIFIER_assume(m == 0);
    m = 1;
}
void __VERIFIER_atomic_rel(void) {
    m = 0;
}
void *w(void *_) {
    __VERIFIER_atomic_acq();
    x++;
    __VERIFIER_atomic_rel();
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
}
