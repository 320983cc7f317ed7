/* A plain int that two threads increment. */
#include <pthread.h>

static int shared;

static void *work(void *unused) {
    shared++;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
