// Functions named `__VERIFIER_atomic_…` are one step, as blocks between `begin` and `end` are.
// expect: violated race
#include "verifier.h"
int x;
void *w(void *_) {
    __VERIFIER_atomic_begin();
    for (int i = 0;i<2;i++)x++;
    __VERIFIER_atomic_end();
    return 0;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, 0, w, 0);
    int y = x;
    pthread_join(a, 0);
    return y;
}
