// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
#include "verifier.h"
struct q {
    pthread_mutex_t m;
    pthread_cond_t c;
    int x;
};
void *w(void *v) {
    struct q*q = v;
    pthread_mutex_lock(&q->m);
    q->x = 1;
    pthread_cond_broadcast(&q->c);
    pthread_mutex_unlock(&q->m);
    return 0;
}
int main(void) {
    pthread_t t;
    struct q*q = malloc(sizeof*q);
    pthread_mutex_init(&q->m, 0);
    pthread_cond_init(&q->c, 0);
    q->x = 0;
    pthread_create(&t, 0, w, q);
    pthread_mutex_lock(&q->m);
    while (!q->x)pthread_cond_wait(&q->c, &q->m);
    pthread_mutex_unlock(&q->m);
    pthread_join(t, 0);
    free(q);
}
