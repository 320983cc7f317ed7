// Threads are given numbers, and return others.
// expect: holds
#include "threads.h"

static void *twice(void *number) {
    return (void *)((long)number * 2);
}
int main(void) {
    pthread_t all[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&all[i], NULL, twice, (void *)(i + 1));
    long sum = 0;
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(all[i], &result);
        sum += (long)result;
    }
    assert(sum == 6);
    return 0;
}
