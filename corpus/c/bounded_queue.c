// A queue of one place with two condition variables.
// expect: holds
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int is_full, item, sum;

static void *first(void *unused) {
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&lock);
        while (is_full)
            pthread_cond_wait(&emptied, &lock);
        item = i;
        is_full = 1;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
static void *second(void *unused) {
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&lock);
        while (!is_full)
            pthread_cond_wait(&filled, &lock);
        sum += item;
        is_full = 0;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(void) {
    together(first, second);
    assert(sum == 3);
    return 0;
}
