// Two bit-fields of one struct are one memory location.
// expect: violated race
#include "threads.h"

static struct {
    unsigned low : 4, high : 4;
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
    assert(pair.low <= 1);
    return 0;
}
