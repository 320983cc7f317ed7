/* Lamport's ring buffer of two slots: one thread sends N numbers, another one takes them. */
#include "threads.h"

#define SLOTS 2

static atomic_int head, tail;
static int slots[SLOTS];

static void *work(void *arg) {
    for (int i = 0; i < N; i++) {
        if (arg) {
            while (atomic_load(&tail) - i == SLOTS || i - atomic_load(&head) == SLOTS) {
            }
            slots[i % SLOTS] = i + 1;
            atomic_store(&tail, i + 1);
        } else {
            while (atomic_load(&tail) == i) {
            }
            assert(slots[i % SLOTS] == i + 1);
            atomic_store(&head, i + 1);
        }
    }
    return arg;
}

int main(void) { run(2, work); }
