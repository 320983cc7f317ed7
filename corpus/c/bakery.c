// Lamport's bakery: take a number, and give way to smaller ones.
// expect: holds
// expect -DNO_DOOR: violated assertion
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int choosing[2], number[2];
static void visit(int me) {
    int other = 1 - me;
#ifndef NO_DOOR
    atomic_store(&choosing[me], 1);
#endif
    int mine = atomic_load(&number[other]) + 1;
    atomic_store(&number[me], mine);
    atomic_store(&choosing[me], 0);
    if (atomic_load(&choosing[other]))
        return (void)atomic_store(&number[me], 0);
    int theirs = atomic_load(&number[other]);
    if (theirs != 0 && (theirs < mine || (theirs == mine && other < me)))
        return (void)atomic_store(&number[me], 0);
    critical();
    atomic_store(&number[me], 0);
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
