// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// says: spurious
#include "verifier.h"
pthread_cond_t c;
pthread_mutex_t m;
int x;
void *w(void *_) {
    pthread_mutex_lock(&m);
    x = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &a);
    pthread_mutexattr_destroy(&a);
    pthread_condattr_t ca;
    pthread_condattr_init(&ca);
    pthread_cond_init(&c, &ca);
    pthread_condattr_destroy(&ca);
    pthread_create(&t, 0, w, 0);
    pthread_mutex_lock(&m);
    while (!x)pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    pthread_cond_destroy(&c);
    pthread_mutex_destroy(&m);
    return 0;
}
