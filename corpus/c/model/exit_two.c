// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
void *a(void *_) {
    _exit(0);
}
void *b(void *_) {
    return 0;
}
int main() {
    pthread_t p, q;
    pthread_create(&p, 0, a, 0);
    pthread_create(&q, 0, b, 0);
    pthread_join(q, 0);
    pthread_join(p, 0);
    assert(0);
}
