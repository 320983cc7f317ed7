// The last one who lets go frees; counted in one step or in two.
// expect: holds
// expect -DTWO_STEPS: violated memory
// vm: what is freed is used again
#include "threads.h"
#include <stdlib.h>
static atomic_int count = 2;
static int *shared;
static void release(void) {
#ifdef TWO_STEPS
    int left = atomic_load(&count) - 1;
    atomic_store(&count, left);
    if (atomic_load(&count) <= 1)
        free(shared);
#else
    if (atomic_fetch_sub(&count, 1) == 1)
        free(shared);
#endif
}

static void *first(void *unused) {
    release();
    return unused;
}
static void *second(void *unused) {
    release();
    return unused;
}
int main(void) {
    shared = malloc(sizeof *shared);
    together(first, second);
    return 0;
}
