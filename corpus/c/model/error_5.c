// A call of `reach_error` or `__VERIFIER_error` is a failed assertion, whatever its body does.
// expect: violated assertion
#include "verifier.h"
void reach_error(void) {
    assert(0);
}
void *w(void *_) {
    reach_error();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    pthread_join(a, 0);
}
