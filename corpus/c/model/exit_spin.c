// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
_Atomic int f;
void *a(void *_) {
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    while (!f);
    assert(0);
}
