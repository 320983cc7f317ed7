// What is done once is done once, and before anybody goes on.
// expect: holds
#include "threads.h"

static int counter;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void set_up(void) {
    counter += 2;
}
static void *work(void *unused) {
    pthread_once(&once, set_up);
    assert(counter == 2);
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
