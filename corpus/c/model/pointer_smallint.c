// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
void *w(void *a) {
    long i = (long)a;
    assert(i == -3 || i == 7);
    return (void *)(i+1);
}
int main(void) {
    pthread_t a, b;
    void *r;
    pthread_create(&a, 0, w, (void *)7);
    pthread_create(&b, 0, w, (void *)(long)-3);
    pthread_join(a, &r);
    assert((long)r == 8);
    assert((int)(long)r == 8);
    pthread_join(b, &r);
    assert((int)(intptr_t)r == -2);
}
