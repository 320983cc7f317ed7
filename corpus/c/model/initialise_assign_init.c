// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
#include "verifier.h"
pthread_mutex_t m;
pthread_cond_t c;
int x;
void *w(void *v) {
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    c = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_create(&t, 0, w, 0);
    w(0);
    pthread_join(t, 0);
    assert(x == 2);
}
