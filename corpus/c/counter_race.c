// A plain counter without a lock.
// expect: violated race
#include "threads.h"

static int counter;
static void *work(void *unused) {
    counter++;
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
