// Two members of one struct are two memory locations.
// expect: holds
#include "threads.h"

static struct {
    char low, high;
} pair;
static atomic_int turn;
static void *work(void *unused) {
    if (atomic_fetch_add(&turn, 1))
        pair.low = 1;
    else
        pair.high = 1;
    return unused;
}
int main(void) {
    together(work, work);
    assert(pair.low == 1 && pair.high == 1);
    return 0;
}
