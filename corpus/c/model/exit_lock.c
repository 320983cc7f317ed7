// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
pthread_mutex_t m;
int x;
void *a(void *_) {
    pthread_mutex_lock(&m);
    x = 1;
    exit(0);
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    pthread_mutex_lock(&m);
    assert(x == 0);
    pthread_mutex_unlock(&m);
    pthread_join(p, 0);
    assert(0);
}
