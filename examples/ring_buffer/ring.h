/* A ring buffer between one thread that writes and one that reads, without locks. */
#ifndef RING_H
#define RING_H

#include <stdatomic.h>
#include <stdbool.h>

enum { RING_SIZE = 2 };

struct ring {
    atomic_uint written, read;
    int items[RING_SIZE];
};

/* Adds an item; false if there is no room. */
bool ring_put(struct ring *ring, int item);

/* Takes the oldest item; false if there is none. */
bool ring_get(struct ring *ring, int *item);

#endif
