// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
#include "verifier.h"
pthread_rwlock_t l;
int x;
void *w(void *_) {
    pthread_rwlock_wrlock(&l);
    x++;
    pthread_rwlock_unlock(&l);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_rwlock_init(&l, 0);
    pthread_create(&t, 0, w, 0);
    pthread_rwlock_rdlock(&l);
    assert(x<2);
    pthread_rwlock_unlock(&l);
    pthread_join(t, 0);
    pthread_rwlock_destroy(&l);
}
