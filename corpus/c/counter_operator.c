// `++` on an atomic counter is one step, `c = c + 1` is two.
// expect: holds
// expect -DTWO_STEPS: violated assertion
#include "threads.h"

static atomic_int counter;
static void *work(void *unused) {
#ifdef TWO_STEPS
    counter = counter + 1;
#else
    counter++;
#endif
    return unused;
}
int main(void) {
    together(work, work);
    assert(counter == 2);
    return 0;
}
