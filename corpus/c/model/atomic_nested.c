// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
// arguments: --races allow
#include "verifier.h"
int x;
int __VERIFIER_atomic_get(void) {
    return x;
}
void __VERIFIER_atomic_set(int v) {
    x = v;
}
int __VERIFIER_atomic_inc(int n) {
    if (n == 0)return 0;
    __VERIFIER_atomic_set(__VERIFIER_atomic_get()+1);
    return __VERIFIER_atomic_inc(n-1);
}
void *w(void *_) {
    __VERIFIER_atomic_inc(2);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 4);
}
