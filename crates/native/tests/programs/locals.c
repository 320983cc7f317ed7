/* Variables of functions that other threads are given the addresses of: WHAT is which of them race. */
#include <pthread.h>

#ifndef WHAT
#define WHAT 0
#endif

struct pair {
    long first;
    int second;
};

static void *increment(void *argument) {
    int *counter = argument;
    (*counter)++;
    return NULL;
}

static void run(void *one, void *two) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, increment, one);
    pthread_create(&threads[1], NULL, increment, two);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void *share(void *argument) {
    int mine = 0;
    run(&mine, &mine);
    return argument;
}

int main(void) {
#if WHAT == 0
    int counter = 0;
    run(&counter, &counter);
#elif WHAT == 1
    int counters[4] = {0};
    run(&counters[2], &counters[2]);
#elif WHAT == 2
    struct pair pair = {0};
    run(&pair.second, &pair.second);
#elif WHAT == 3
    pthread_t thread;
    pthread_create(&thread, NULL, share, NULL);
    pthread_join(thread, NULL);
#else
    for (int i = 0; i < 2; i++) {
        int outer = i;
        {
            int inner = 0;
            run(&inner, WHAT == 4 ? &outer : &inner);
        }
    }
#endif
    return 0;
}
