#include "ring.h"

bool ring_put(struct ring *ring, int item) {
    unsigned written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    unsigned read = atomic_load_explicit(&ring->read, memory_order_acquire);
    if (written - read == RING_SIZE)
        return false;
    ring->items[written % RING_SIZE] = item;
    atomic_store_explicit(&ring->written, written + 1, memory_order_release);
    return true;
}

bool ring_get(struct ring *ring, int *item) {
    unsigned read = atomic_load_explicit(&ring->read, memory_order_relaxed);
    unsigned written = atomic_load_explicit(&ring->written, memory_order_acquire);
    if (read == written)
        return false;
    atomic_store_explicit(&ring->read, read + 1, memory_order_release);
    *item = ring->items[read % RING_SIZE];
    return true;
}
