/* Threads before `main`, and code after it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int x, order;
static pthread_t early;

static void *twice(void *unused) {
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return unused;
}

#if HOW == 0
/* A constructor starts a thread. */
__attribute__((constructor)) static void begin(void) { pthread_create(&early, 0, twice, 0); }

int main(void) {
    assert(atomic_load(&x) != WRONG);
    pthread_join(early, 0);
    assert(atomic_load(&x) == 2);
    return 0;
}
#elif HOW == 1
/* A destructor comes while a thread goes on. */
__attribute__((destructor)) static void end(void) { assert(atomic_load(&x) != WRONG); }

int main(void) {
    pthread_create(&early, 0, twice, 0);
    pthread_detach(early);
    return 0;
}
#elif HOW == 3
/* A constructor allocates memory, which is watched like other memory, and prints. */
static char *block;
__attribute__((constructor)) static void begin(void) {
    puts("before main");
    block = malloc(40);
}
static void end(void) { free(block); }
static void *reads(void *unused) {
    char seen = ((volatile char *)block)[WRONG == 1 ? 40 : 39];
    (void)seen;
    return unused;
}

int main(void) {
    if (WRONG == 4)
        free(block + 8);
    if (WRONG != 3)
        atexit(end);
    pthread_create(&early, 0, reads, 0);
    if (WRONG == 2)
        pthread_detach(early);
    else
        pthread_join(early, 0);
    return 0;
}
#else
/* All of it, in its order. */
static void handle(void) { assert(order++ == 2); }
__attribute__((constructor)) static void begin(void) { assert(order++ == 0); }
__attribute__((destructor(101))) static void last(void) { assert(order++ != WRONG); }
__attribute__((destructor(102))) static void end(void) { assert(order++ == 3); }

int main(void) {
    assert(order++ == 1);
    atexit(handle);
    pthread_create(&early, 0, twice, 0);
    pthread_join(early, 0);
    return 0;
}
#endif
