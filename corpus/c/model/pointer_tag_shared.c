// Conversions between pointers and integers keep truth, identity and alignment.
// expect: violated assertion
#include "verifier.h"
_Atomic uintptr_t head;
void *w(void *_) {
    int *p = malloc(4);
    *p = 1;
    head = (uintptr_t)p|1;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    uintptr_t h = head;
    if (h&1) {
        int *p = (int *)(h&~1UL);
        assert(*p == 0);
    }
    pthread_join(t, 0);
}
