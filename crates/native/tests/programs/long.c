/* Executions of almost as many steps as there may be. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *count(void *unused) {
    for (int i = 0; i < 12000; i++) {
        int seen = atomic_load(&x);
        atomic_store(&x, seen + 1);
    }
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, count, 0);
    pthread_create(&other, 0, count, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
#ifdef WRONG
    assert(atomic_load(&x) != 24000);
#endif
    return 0;
}
