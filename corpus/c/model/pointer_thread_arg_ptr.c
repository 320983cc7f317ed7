// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
int x;
void *w(void *a) {
    *(int *)a = 4;
    return (void *)((uintptr_t)a+0);
}
int main(void) {
    pthread_t t;
    void *r;
    pthread_create(&t, 0, w, &x);
    pthread_join(t, &r);
    assert(*(int *)r == 4);
    assert((uintptr_t)r == (uintptr_t)&x);
}
