// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: violated assertion
#include "verifier.h"
int x;
void *a(void *_) {
    assert(0);
    return 0;
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    exit(0);
}
