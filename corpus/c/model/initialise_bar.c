// What initialises and destroys things to synchronise on, where data races are allowed, too.
// expect: holds
// arguments: --races allow
#include "verifier.h"
#include <semaphore.h>
pthread_barrier_t b;
sem_t s;
pthread_spinlock_t sp;
int x;
pthread_once_t o = PTHREAD_ONCE_INIT;
void in(void) {
    x++;
}
void *w(void *_) {
    pthread_once(&o, in);
    pthread_barrier_wait(&b);
    sem_post(&s);
    pthread_spin_lock(&sp);
    x++;
    pthread_spin_unlock(&sp);
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_JOINABLE);
    pthread_barrier_init(&b, 0, 2);
    sem_init(&s, 0, 0);
    pthread_spin_init(&sp, 0);
    pthread_create(&t, &a, w, 0);
    pthread_attr_destroy(&a);
    pthread_once(&o, in);
    pthread_barrier_wait(&b);
    sem_wait(&s);
    pthread_join(t, 0);
    assert(x == 2);
    pthread_barrier_destroy(&b);
    sem_destroy(&s);
    pthread_spin_destroy(&sp);
}
