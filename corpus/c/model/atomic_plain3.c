// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: holds
#include "verifier.h"
int x;
void *w(void *_) {
    __VERIFIER_atomic_begin();
    x++;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t a;
    x = 1;
    pthread_create(&a, 0, w, 0);
    pthread_join(a, 0);
    return x;
}
