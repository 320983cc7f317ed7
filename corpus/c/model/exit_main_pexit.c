// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: violated assertion
#include "verifier.h"
int x;
void *w(void *_) {
    assert(0);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_exit(0);
}
