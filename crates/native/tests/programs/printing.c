/* What the explored executions print is not seen. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int turns;

static void *work(void *number) {
    atomic_exchange(&turns, 1);
    printf("thread %ld\n", (long)number);
    fprintf(stderr, "error %ld %f\n", (long)number, 0.5);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&two, 0, work, (void *)2);
    pthread_join(one, 0);
    pthread_join(two, 0);
    puts("the end");
    return 0;
}
