// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// says: spurious
#include "verifier.h"
#include <time.h>
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    struct timespec t = {0, 0};
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&c, &m, &t);
    pthread_mutex_unlock(&m);
}
