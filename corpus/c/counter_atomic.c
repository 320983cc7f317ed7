// An atomic counter, raised in one step.
// expect: holds
#include "threads.h"

static atomic_int counter;
static void *work(void *unused) {
    atomic_fetch_add(&counter, 1);
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
