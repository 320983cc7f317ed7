// The older builtins of the compiler.
// expect: holds
#include "threads.h"

static int counter;
static void *work(void *unused) {
    __sync_fetch_and_add(&counter, 1);
    return unused;
}
int main(void) {
    together(work, work);
    assert(__sync_add_and_fetch(&counter, 0) == 2);
    return 0;
}
