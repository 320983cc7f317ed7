/* A thread that comes to no operation: it computes for ever, or sleeps in the kernel. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int x;
static int table[1000];

static void *thread(void *unused) {
    atomic_store(&x, 1);
#if HOW == 0
    /* It computes, all on one line. */
    for (long i = 0;; i++) table[i % 1000] += (int)i * 7 + table[i * 3 % 1000];
#else
    int ends[2];
    char byte;
    pipe(ends);
    read(ends[0], &byte, 1); /* sleeps */
#endif
    atomic_store(&x, table[0]);
    return unused;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, 0, thread, 0);
    atomic_store(&x, 2);
    pthread_join(id, 0);
    return 0;
}
