// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: violated assertion
#include "verifier.h"
_Atomic int f;
void *a(void *_) {
    f = 1;
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    assert(!f);
    pthread_join(p, 0);
}
