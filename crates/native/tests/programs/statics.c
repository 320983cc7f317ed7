/* Static variables are as the program began in every execution. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int starts;
static int table[4] = {1, 2, 3, 4};
static atomic_int turns;

static void *work(void *unused) {
    atomic_exchange(&turns, 1);
    return unused;
}

int main(void) {
    pthread_t one, two;
    static int again;
    assert(++starts == 1 && ++again == 1 && table[2]++ == 3 && turns == 0);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
