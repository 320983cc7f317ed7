// Loops without an operation in them. One that reads a plain variable waits for a data race; one that
// reads nothing has no end at all.
// expect: violated race
// expect -DENDLESS: violated livelock
// vm: compilers take such loops for endless, or leave them out
#include "threads.h"

static int flag;
static void *set(void *unused) {
    flag = 1;
    return unused;
}
static void *wait(void *unused) {
#ifdef ENDLESS
    for (;;)
        ;
#endif
    while (!flag)
        ;
    return unused;
}
int main(void) {
    together(wait, set);
    return 0;
}
