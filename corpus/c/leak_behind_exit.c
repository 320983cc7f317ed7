// The program exits while a thread still has work: what that has dropped by then has leaked, what it
// holds has not.
// expect --property=leak: holds
// expect -DDROPS --property=leak: violated leak
// vm: blocks that are never freed are looked for by the machine alone
#include "threads.h"
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static char *block;

static void make(void) {
    block = malloc(1);
}
static void *works(void *unused) {
    make();
    pthread_mutex_lock(&mutex);
#ifdef DROPS
    block = 0;
#endif
    pthread_cond_wait(&never, &mutex);
    free(block);
    return unused;
}
int main(void) {
    pthread_t id;
    pthread_create(&id, 0, works, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return 0;
}
