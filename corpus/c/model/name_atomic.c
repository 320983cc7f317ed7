// Names have all characters that the compiler allows.
// expect: holds
#include "verifier.h"
_Atomic int a$;
void *w$(void *_) {
    a$++;
    return 0;
}
int main(void) {
    pthread_t t$;
    pthread_create(&t$, 0, w$, 0);
    pthread_join(t$, 0);
    assert(a$==1);
}
