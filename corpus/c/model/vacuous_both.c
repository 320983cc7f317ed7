// Assumptions that no execution survives are told.
// expect: holds
// arguments: --nondet 0..1
// says: every execution ends
#include "verifier.h"
_Atomic int f;
void *w(void *_) {
    __VERIFIER_assume(f == 0);
    return 0;
}
int main(void) {
    pthread_t a;
    f = __VERIFIER_nondet_int();
    pthread_create(&a, 0, w, 0);
    __VERIFIER_assume(f == 1);
    pthread_join(a, 0);
    assert(0);
}
