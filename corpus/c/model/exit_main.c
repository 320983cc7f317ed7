// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: holds
#include "verifier.h"
pthread_mutex_t m;
void *a(void *_) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    return 0;
}
int main() {
    pthread_t p;
    pthread_create(&p, 0, a, 0);
    return 0;
}
