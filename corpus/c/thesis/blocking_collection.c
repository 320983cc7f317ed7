// A blocking collection: whoever completes it signals one taker, and two may sleep.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdbool.h>

#ifndef ROUNDS
#define ROUNDS 3
#endif
enum { TAKERS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static int n_items;
static bool is_complete;

static void add(void) {
    pthread_mutex_lock(&lock);
    n_items++;
    pthread_cond_signal(&added);
    pthread_mutex_unlock(&lock);
}

static void complete(void) {
    pthread_mutex_lock(&lock);
    is_complete = true;
#ifdef FIXED
    pthread_cond_broadcast(&added);
#else
    pthread_cond_signal(&added); // Planted: there may be several takers.
#endif
    pthread_mutex_unlock(&lock);
}

static bool take(void) {
    pthread_mutex_lock(&lock);
    while (n_items == 0 && !is_complete)
        pthread_cond_wait(&added, &lock);
    bool is_taken = n_items > 0;
    if (is_taken)
        n_items--;
    pthread_mutex_unlock(&lock);
    return is_taken;
}

static void *producer(void *unused) {
    for (int idx = 0; idx < ROUNDS; idx++)
        add();
    complete();
    return unused;
}

static void *taker(void *unused) {
    while (take())
        ;
    return unused;
}

int main(void) {
    pthread_t threads[TAKERS + 1];
    pthread_create(&threads[0], 0, producer, 0);
    for (int idx = 1; idx <= TAKERS; idx++)
        pthread_create(&threads[idx], 0, taker, 0);
    for (int idx = 0; idx <= TAKERS; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
