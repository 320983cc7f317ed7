// Setters write two variables one after the other; a checker between the two sees half.
// expect -DSETTERS=1: violated assertion
// expect -DSETTERS=2: violated assertion
// expect -DSETTERS=4: violated assertion
// expect -DSETTERS=2 -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int a, b;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
}

static void leave(void) {
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *set(void *unused) {
    enter();
    atomic_store(&a, 1);
    atomic_store(&b, -1);
    leave();
    return unused;
}

static void *check(void *unused) {
    enter();
    int seen_a = atomic_load(&a), seen_b = atomic_load(&b);
    assert((seen_a == 0 && seen_b == 0) || (seen_a == 1 && seen_b == -1));
    leave();
    return unused;
}

int main(void) {
    pthread_t threads[SETTERS + 1];
    for (int i = 0; i < SETTERS; i++) pthread_create(&threads[i], 0, set, 0);
    pthread_create(&threads[SETTERS], 0, check, 0);
    for (int i = 0; i <= SETTERS; i++) pthread_join(threads[i], 0);
    return 0;
}
