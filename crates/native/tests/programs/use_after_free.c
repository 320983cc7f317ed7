/* Blocks that are used or freed when they should not be, each in another way; and none of that. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifndef HOW
#define HOW 0
#endif
#define ROUNDS 1000

static int *shared;
int variable, seen;

static void *churn(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        char *block = malloc(i);
        memset(block, i, i);
        free(realloc(block, 3 * i));
    }
    return unused;
}

static void *reader(void *unused) {
    seen = *shared;
    return unused;
}

int main(void) {
    pthread_t thread;
    shared = malloc(sizeof(pthread_mutex_t));
    *shared = 1;
    pthread_create(&thread, 0, HOW == 0 ? reader : churn, 0);
    if (HOW != 6)
        free(shared);
    if (HOW == 1)
        *shared = 2;
    /* Not reused at once, so there is something to find. */
    if (HOW == 2)
        free(shared);
    /* Not where a block begins. */
    if (HOW == 3)
        free(shared + 1);
    /* Not on the heap. */
    if (HOW == 4)
        free(&variable);
    /* Moved already. */
    if (HOW == 5)
        shared = realloc(shared, 100);
    /* In one step. */
    if (HOW == 7)
        atomic_fetch_add((atomic_int *)shared, 1);
    /* As something else. */
    if (HOW == 8)
        pthread_mutex_lock((pthread_mutex_t *)shared);
    pthread_join(thread, 0);
    if (HOW == 6)
        free(shared);
    return 0;
}
