/* One order of two steps fails, the other computes for ever. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int table[1000];

static void *writer(void *unused) {
    atomic_store(&x, 1);
    return unused;
}

static void *reader(void *unused) {
    int seen = atomic_load(&x);
    assert(seen != WRONG);
    for (long i = 0;; i++)
        table[i % 1000] += (int)i * 7 + table[i * 3 % 1000];
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&two, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
