// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
#include "verifier.h"
int x;
void *w(void *v) {
    __VERIFIER_atomic_begin();
    int t = x;
    x = t+1;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    w(0);
    pthread_join(t, 0);
    assert(x == 2);
}
