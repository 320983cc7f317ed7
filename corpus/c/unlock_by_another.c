// A mutex is given back by one who has not got it.
// expect: violated assertion
// vm: misuse
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
