/* The Indexer of POPL 2005, Fig. 1: N threads put four messages each into one hash table. */
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 15
#endif
#define SIZE 128
#define MESSAGES 4

static atomic_int table[SIZE];

static void *index_messages(void *argument) {
    int tid = (int)(long)argument;
    for (int message = 1; message <= MESSAGES; message++) {
        int word = message * 11 + tid;
        int slot = (word * 7) % SIZE;
        int empty = 0;
        while (!atomic_compare_exchange_strong(&table[slot], &empty, word)) {
            slot = (slot + 1) % SIZE;
            empty = 0;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++) {
        pthread_create(&threads[i], NULL, index_messages, (void *)i);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
