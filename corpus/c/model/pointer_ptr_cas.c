// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
_Atomic(int *) top;
int x;
void *w(void *_) {
    int *e = 0;
    if (__atomic_compare_exchange_n((int **)&top, &e, &x, 0, 5, 5))return 0;
    assert((long)e);
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, w, 0);
    pthread_create(&b, 0, w, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(top == &x);
}
