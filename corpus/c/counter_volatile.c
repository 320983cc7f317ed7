// `volatile` is no lock.
// expect: violated assertion
#include "threads.h"

static volatile int counter;
static void *work(void *unused) {
    counter++;
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
