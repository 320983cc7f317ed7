// `exit` ends the process, whoever calls it: who joins the thread does not go on.
// expect: violated deadlock
#include "verifier.h"
pthread_mutex_t a;
void *w(void *_) {
    pthread_mutex_lock(&a);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_mutex_lock(&a);
    pthread_create(&t, 0, w, 0);
    pthread_join(t, 0);
    exit(0);
}
