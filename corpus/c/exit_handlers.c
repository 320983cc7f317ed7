// What is to be done at the exit is done, the last first, wherever the program ends.
// expect: violated assertion
// expect -DRIGHT: holds
// expect -DEXIT: violated assertion
// expect -DEXIT -DRIGHT: holds
#include "threads.h"
#include <stdlib.h>

static int order;
static void first(void) {
#ifdef RIGHT
    assert(order == 2);
#else
    assert(order == 0);
#endif
}
static void second(void) {
    order *= 2;
}
int main(void) {
    atexit(first);
    atexit(second);
    order = 1;
#ifdef EXIT
    exit(0);
#endif
    return 0;
}
