// A thread that cannot have the second lock at once leaves its work undone.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *number) {
    pthread_mutex_t *first = number ? &a : &b, *second = number ? &b : &a;
#ifdef FIXED
    first = &a;
    second = &b;
#endif
    pthread_mutex_lock(first);
    if (pthread_mutex_trylock(second) == 0) {
        done++;
        pthread_mutex_unlock(second);
    }
    pthread_mutex_unlock(first);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)0L);
    pthread_create(&two, 0, work, (void *)1L);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(done == 2);
    return 0;
}
