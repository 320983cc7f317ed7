// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
#include "verifier.h"
int main(void) {
    struct {
        pthread_mutex_t m;
        int x;
    }s = {PTHREAD_MUTEX_INITIALIZER, 3};
    pthread_mutex_lock(&s.m);
    s.x++;
    pthread_mutex_unlock(&s.m);
    assert(s.x == 4);
}
