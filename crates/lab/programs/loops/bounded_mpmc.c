/* Vyukov's bounded queue: N threads enqueue once and dequeue until they have something. */
#include "threads.h"

#define SLOTS 4

static struct {
    atomic_int sequence;
    int value;
} slots[SLOTS] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
static atomic_int to_enqueue, to_dequeue, got[N + 1];

static void enqueue(int value) {
    int at = atomic_load(&to_enqueue);
    for (;;) {
        int difference = atomic_load(&slots[at % SLOTS].sequence) - at;
        if (difference == 0) {
            if (atomic_compare_exchange_strong(&to_enqueue, &at, at + 1)) break;
        } else {
            at = atomic_load(&to_enqueue);
        }
    }
    slots[at % SLOTS].value = value;
    atomic_store(&slots[at % SLOTS].sequence, at + 1);
}

static int dequeue(void) {
    int at = atomic_load(&to_dequeue);
    for (;;) {
        int difference = atomic_load(&slots[at % SLOTS].sequence) - (at + 1);
        if (difference == 0) {
            if (atomic_compare_exchange_strong(&to_dequeue, &at, at + 1)) break;
        } else {
            at = atomic_load(&to_dequeue);
        }
    }
    int value = slots[at % SLOTS].value;
    atomic_store(&slots[at % SLOTS].sequence, at + SLOTS);
    return value;
}

static void *work(void *arg) {
    enqueue((long)arg + 1);
    int value = dequeue();
    assert(value > 0 && value <= N);
    assert(atomic_fetch_add(&got[value], 1) == 0);
    return arg;
}

int main(void) { run(N, work); }
