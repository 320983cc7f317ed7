// Each thread has its own variable, and adds it up in the end.
// expect: holds
#include "threads.h"

static atomic_int counter;
static _Thread_local int own;
static void *work(void *unused) {
    own++;
    counter += own;
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
