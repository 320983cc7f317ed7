// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: violated assertion
#include "verifier.h"
int x;
void h(void) {
    assert(x == 0);
}
void *a(void *_) {
    x = 1;
    exit(0);
}
int main() {
    pthread_t p;
    atexit(h);
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
}
