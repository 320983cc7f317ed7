// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
#include "verifier.h"
int x;
void __VERIFIER_atomic_inc(void) {
    int t = x;
    x = t + 1;
}
void *w(void *_) {
    __VERIFIER_atomic_inc();
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    if (x != 2)
        __VERIFIER_error();
    return 0;
}
