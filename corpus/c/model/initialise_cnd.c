// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
// says: spurious
#include "verifier.h"
#include <threads.h>
cnd_t c;
mtx_t m;
int x;
int w(void *_) {
    mtx_lock(&m);
    x = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    return 0;
}
int main(void) {
    thrd_t t;
    mtx_init(&m, 0);
    cnd_init(&c);
    thrd_create(&t, w, 0);
    mtx_lock(&m);
    while (!x)cnd_wait(&c, &m);
    mtx_unlock(&m);
    thrd_join(t, 0);
}
