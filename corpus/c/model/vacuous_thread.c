// Assumptions that no execution survives are told.
// expect: holds
// says: gets past
#include "verifier.h"
int x;
void *w(void *_) {
    __VERIFIER_assume(x == 1);
    assert(0);
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    return 0;
}
