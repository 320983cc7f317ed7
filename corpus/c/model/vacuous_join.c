// Assumptions that no execution survives are told.
// expect: holds
// says: gets past
#include "verifier.h"
void *w(void *_) {
    __VERIFIER_assume(0);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    assert(0);
}
