// One writes, one reads, and two atomic indices are between them.
// expect: holds
// expect -DEARLY: violated race
#include "threads.h"
static int buffer[2];
static atomic_int head, tail;

static void *first(void *unused) {
    for (int i = 0; i < 2; i++) {
#ifdef EARLY
        atomic_store(&head, i + 1);
        buffer[i] = i + 1;
#else
        buffer[i] = i + 1;
        atomic_store(&head, i + 1);
#endif
    }
    return unused;
}
static void *second(void *unused) {
    while (tail < 2 && atomic_load(&head) > tail) {
        assert(buffer[tail] == tail + 1);
        tail++;
    }
    return unused;
}
int main(void) {
    together(first, second);
    return 0;
}
