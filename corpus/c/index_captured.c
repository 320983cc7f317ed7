// Threads are given the address of a variable that goes on changing.
// expect: violated race
#include "threads.h"

static atomic_int sum;
static void *add(void *number) {
    sum += *(int *)number;
    return NULL;
}
int main(void) {
    pthread_t all[2];
    int i;
    for (i = 0; i < 2; i++)
        pthread_create(&all[i], NULL, add, &i);
    for (int j = 0; j < 2; j++)
        pthread_join(all[j], NULL);
    return 0;
}
