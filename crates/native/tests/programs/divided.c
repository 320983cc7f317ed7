/* A word is written as a whole first and in halves later: the race is on a half. */
#include <pthread.h>

union { int whole; short half[2]; } shared;

static void *work(void *unused) {
    shared.half[1] = 1;
    return unused;
}

int main(void) {
    pthread_t one;
    pthread_create(&one, 0, work, 0);
    shared.half[RACE] = 1;
    pthread_join(one, 0);
    shared.whole = 0;
    return 0;
}
