// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
#include <stdnoreturn.h>
noreturn void die(void) {
    _Exit(2);
}
void *w(void *_) {
    die();
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    assert(0);
}
