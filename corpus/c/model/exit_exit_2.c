// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
#include <unistd.h>
void *a(void *_) {
    _Exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
    assert(0);
}
