// A barrier for three is used by two.
#include <pthread.h>

static pthread_barrier_t start;

static void *work(void *arg) {
    pthread_barrier_wait(&start);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&start, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
