// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: violated race
#include "verifier.h"
int x;
void __VERIFIER_atomic_inc(void) {
    x++;
}
void *w(void *_) {
    __VERIFIER_atomic_inc();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    x = 5;
    pthread_join(a, 0);
}
