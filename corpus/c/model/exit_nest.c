// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
void f(int n) {
    if (n == 0)exit(3);
    f(n-1);
    assert(0);
}
void *a(void *_) {
    f(2);
    return 0;
}
int main() {
    pthread_t p, q;
    pthread_create(&p, 0, a, 0);
    pthread_create(&q, 0, a, 0);
    pthread_join(q, 0);
    assert(0);
}
