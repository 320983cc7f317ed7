// One of those who wait at a barrier is told so, whoever has come last.
// expect: violated assertion
#include <assert.h>
#include <pthread.h>
pthread_barrier_t b;
int x[2];
static void *run(void *arg) {
    x[0] = pthread_barrier_wait(&b);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&t, 0, run, 0);
    x[1] = pthread_barrier_wait(&b);
    pthread_join(t, 0);
    assert(x[1] != -1);
    return 0;
}
