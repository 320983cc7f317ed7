// Dekker's algorithm, each tries once; or enters on its turn without looking again.
// expect: holds
// expect -DNO_SECOND_LOOK: violated assertion
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int wants[2], turn;
static void visit(int me) {
    int other = 1 - me;
    atomic_store(&wants[me], 1);
    if (atomic_load(&wants[other])) {
        if (atomic_load(&turn) != me) {
            atomic_store(&wants[me], 0);
            return;
        }
#ifndef NO_SECOND_LOOK
        if (atomic_load(&wants[other]))
            return (void)atomic_store(&wants[me], 0);
#endif
    }
    critical();
    atomic_store(&turn, other);
    atomic_store(&wants[me], 0);
}
static void *first(void *unused) {
    visit(0);
    return unused;
}
static void *second(void *unused) {
    visit(1);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
