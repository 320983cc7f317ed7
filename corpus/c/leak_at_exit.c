// What is left at the end is found by a variable that is still there: global, of a thread, or a local
// of a function that has not returned. Without it, it has leaked.
// expect --property=leak: holds
// expect -DLOCAL --property=leak: holds
// expect -DOWN --property=leak: holds
// expect -DRESULT --property=leak: holds
// expect -DINSIDE --property=leak: holds
// expect -DUNALIGNED --property=leak: holds
// expect -DRETURNS --property=leak: violated leak
// expect -DENDED --property=leak: violated leak
// expect -DJOINED --property=leak: violated leak
// expect -DCYCLE --property=leak: violated leak
// vm: blocks that are never freed are looked for by the machine alone
#include "threads.h"
#include <stdlib.h>
#include <string.h>
static char *global;
static _Thread_local char *own;

#if defined(RESULT) || defined(JOINED)
static void *thread(void *unused) {
    return malloc(1);
}
#elif defined(ENDED)
static void *thread(void *unused) {
    own = malloc(1);
    return unused;
}
#endif

int main(void) {
#if defined(LOCAL)
    char *local = malloc(1);
    char **address = &local;
    *address[0] = 1;
    exit(0);
#elif defined(OWN)
    own = malloc(1);
#elif defined(RESULT)
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
#elif defined(JOINED) || defined(ENDED)
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    pthread_join(id, 0);
#elif defined(INSIDE)
    global = (char *)malloc(8) + 4;
#elif defined(UNALIGNED)
    static char bytes[16];
    char *block = malloc(1);
    memcpy(bytes + 3, &block, sizeof block);
#elif defined(RETURNS)
    char *local = malloc(1);
    *local = 1;
#elif defined(CYCLE)
    void **one = malloc(sizeof *one), **two = malloc(sizeof *two);
    *one = two;
    *two = one;
#else
    global = malloc(1);
#endif
    return 0;
}
