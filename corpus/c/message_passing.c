// A value behind an atomic flag.
// expect: holds
// expect -DPLAIN: violated race
#include "threads.h"
#ifdef PLAIN
static int flag;
#else
static atomic_int flag;
#endif
static int value;

static void *first(void *unused) {
    value = 42;
    flag = 1;
    return unused;
}
static void *second(void *unused) {
    if (flag)
        assert(value == 42);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
