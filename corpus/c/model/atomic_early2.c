// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
// arguments: --races allow
#include "verifier.h"
int x;
int __VERIFIER_atomic_f(int c) {
    if (c) {
        x = 1;
        return 1;
    }
    x = 2;
    x = 0;
    return 0;
}
void *w(void *_) {
    __VERIFIER_atomic_f(0);
    __VERIFIER_atomic_f(1);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    int y;
    __VERIFIER_atomic_begin();
    y = x;
    __VERIFIER_atomic_end();
    assert(y != 2);
    pthread_join(a, 0);
}
