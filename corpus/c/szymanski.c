// Szymanski's algorithm without its waits: who would wait goes home.
// expect: holds
#include "threads.h"

static atomic_int inside;
static void critical(void) {
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
}
static atomic_int flag[2];
static void visit(int me) {
    int other = 1 - me;
    atomic_store(&flag[me], 1);
    if (atomic_load(&flag[other]) >= 3)
        return (void)atomic_store(&flag[me], 0);
    atomic_store(&flag[me], 3);
    if (atomic_load(&flag[other]) == 1)
        return (void)atomic_store(&flag[me], 0);
    atomic_store(&flag[me], 4);
    if (me == 1 && atomic_load(&flag[0]) >= 2)
        return (void)atomic_store(&flag[me], 0);
    if (me == 0 && atomic_load(&flag[1]) >= 3)
        return (void)atomic_store(&flag[me], 0);
    critical();
    atomic_store(&flag[me], 0);
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
