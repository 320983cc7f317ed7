// A stack over an array that gives indices back: compare-and-swap takes an old index for unchanged.
// expect: violated assertion
// expect -DTAGGED: holds
#include "threads.h"
static int next_of[3] = { -1, 0, 1 };
static atomic_long top = 2;
static atomic_int owners[3];
static int index_of(long word) {
    return (int)(word & 7) == 7 ? -1 : (int)(word & 7);
}
static long word(long old, int index) {
#ifdef TAGGED
    return ((old >> 3) + 1) << 3 | (index & 7);
#else
    return index & 7;
#endif
}
static int pop(void) {
    long old = atomic_load(&top);
    int index = index_of(old);
    if (index < 0)
        return -1;
    int next = *(volatile int *)&next_of[index];
    if (!atomic_compare_exchange_strong(&top, &old, word(old, next)))
        return -1;
    assert(atomic_fetch_add(&owners[index], 1) == 0);
    return index;
}
static void push(int index) {
    atomic_fetch_sub(&owners[index], 1);
    long old = atomic_load(&top);
    *(volatile int *)&next_of[index] = index_of(old);
    atomic_compare_exchange_strong(&top, &old, word(old, index));
}

static void *first(void *unused) {
    pop();
    pop();
    return unused;
}
static void *second(void *unused) {
    int a = pop(), b = pop();
    (void)b;
    if (a >= 0)
        push(a);
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
