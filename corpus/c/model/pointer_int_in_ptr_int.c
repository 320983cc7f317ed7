// Conversions between pointers and integers keep truth, identity and alignment.
// expect: holds
#include "verifier.h"
void *w(void *a) {
    int i = (int)(size_t)a;
    assert(i >= 0 && i<2);
    return a;
}
int main(void) {
    pthread_t t[2];
    for (int i = 0;i<2;i++)pthread_create(&t[i], 0, w, (void *)(size_t)i);
    for (int i = 0;i<2;i++) {
        void *r;
        pthread_join(t[i], &r);
        assert((size_t)r == i);
    }
}
