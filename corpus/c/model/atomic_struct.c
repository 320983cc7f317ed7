// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
// arguments: --races allow
#include "verifier.h"
struct p {
    int a, b;
};
struct p g;
struct p __VERIFIER_atomic_get(void) {
    return g;
}
void __VERIFIER_atomic_set(int v) {
    g.a = v;
    g.b = v;
}
void *w(void *_) {
    __VERIFIER_atomic_set(3);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    struct p q = __VERIFIER_atomic_get();
    assert(q.a == q.b);
    pthread_join(a, 0);
}
