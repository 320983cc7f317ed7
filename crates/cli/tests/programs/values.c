/* Numbers of many types: the trace writes each as its type says. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct pair {
    int first;
    short second;
};

static atomic_int balance = 3;
static atomic_bool is_open = 1;
static volatile double rate = 1.5;
static volatile signed char level = -7;
static volatile struct pair pair = {1, -1};
static struct pair *volatile last;

static void *work(void *unused) {
    atomic_fetch_sub(&balance, 5);
    is_open = 0;
    rate = -2.25;
    level = -8;
    pair.second = -300;
    last = (struct pair *)&pair;
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    int sum = balance + is_open + (int)rate + level + pair.second;
    assert(sum > 0 || last == NULL);
    return 0;
}
