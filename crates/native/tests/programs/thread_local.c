/* Thread-local variables are a thread's own and begin anew in every execution. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int mine = 5;
static _Thread_local int zero;
static atomic_int turns;
static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *value) {
    atomic_fetch_add(&destroyed, (int)(long)value);
}

static void *work(void *number) {
    pthread_setspecific(key, number);
    errno = (int)(long)number;
    mine++;
    atomic_exchange(&turns, 1);
    mine++;
    zero++;
    atomic_exchange(&turns, 1);
    assert(mine == 7 && zero == 1);
    assert(errno == (int)(long)number);
    assert(pthread_getspecific(key) == number);
    return 0;
}

int main(void) {
    pthread_t one, two;
    assert(mine == 5 && zero == 0);
    mine = 9;
    pthread_key_create(&key, destroy);
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&two, 0, work, (void *)2);
    assert(!pthread_equal(one, two) && !pthread_equal(one, pthread_self()));
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(mine == 9 && destroyed == 3);
    return 0;
}
