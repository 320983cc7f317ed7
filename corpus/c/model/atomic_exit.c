// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
// arguments: --races allow
#include "verifier.h"
int x;
void __VERIFIER_atomic_f(void) {
    x = 1;
    exit(0);
}
void *w(void *_) {
    __VERIFIER_atomic_f();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    assert(x == 0);
    pthread_join(a, 0);
    assert(0);
    return 0;
}
