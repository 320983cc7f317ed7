// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: violated panic
#include "verifier.h"
void *a(void *_) {
    abort();
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_join(p, 0);
}
