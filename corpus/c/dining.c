// Philosophers who all take the chop-stick with the smaller number first: nobody waits for ever, never do
// all of them eat at once, and all of them get to eat.
// expect -DN=2: holds
// expect -DN=2 -DALL_HAVE_EATEN: violated assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t sticks[N];
static atomic_int eats[N], has_eaten[N];

static int all(atomic_int *flags) {
    int n = 0;
    while (n < N && flags[n]) n++;
    return n == N;
}

static void *dine(void *number) {
    long me = (long)number, next = (me + 1) % N;
    long first = me < next ? me : next, second = me < next ? next : me;
    pthread_mutex_lock(&sticks[first]);
    pthread_mutex_lock(&sticks[second]);
    eats[me] = 1;
    // As long as this one eats, those next to it do not.
    assert(!all(eats));
    eats[me] = 0;
    has_eaten[me] = 1;
#ifdef ALL_HAVE_EATEN
    assert(!all(has_eaten));
#endif
    pthread_mutex_unlock(&sticks[second]);
    pthread_mutex_unlock(&sticks[first]);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++) pthread_mutex_init(&sticks[i], 0);
    for (long i = 0; i < N; i++) pthread_create(&threads[i], 0, dine, (void *)i);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
