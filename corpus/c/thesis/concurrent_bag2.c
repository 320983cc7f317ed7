// A concurrent bag: whether it is empty is found out list by list, while an item moves from a list
// that is looked at later to one that was looked at before.
// expect: violated assertion
// expect -DFIXED: holds
#include "bag.h"

#ifndef ROUNDS
#define ROUNDS 3
#endif

static int list_take(int idx) {
    list *from = &bag[idx];
    int item = 0;
    pthread_mutex_lock(&from->lock);
    int n_items = atomic_load(&from->n_items);
    if (n_items > 0) {
        item = from->items[n_items - 1];
        atomic_store(&from->n_items, n_items - 1);
    }
    pthread_mutex_unlock(&from->lock);
    return item;
}

static int bag_is_empty(void) {
    int n_items = 0;
#ifdef FIXED
    for (int idx = 0; idx < LISTS; idx++)
        pthread_mutex_lock(&bag[idx].lock);
#endif
    for (int idx = 0; idx < LISTS; idx++)
        n_items += atomic_load(&bag[idx].n_items); // Planted: not all at once.
#ifdef FIXED
    for (int idx = 0; idx < LISTS; idx++)
        pthread_mutex_unlock(&bag[idx].lock);
#endif
    return n_items == 0;
}

static void *looker(void *unused) {
    assert(!bag_is_empty());
    for (int round = 1; round <= ROUNDS; round++) {
        bag_add(0, round);
        list_take(0);
    }
    return unused;
}

// Puts every item where it belongs; at any time one item or the other is in the bag.
static void *mover(void *unused) {
    bag_add(0, 9);
    list_take(2);
    for (int round = 1; round <= ROUNDS; round++) {
        bag_add(0, round);
        list_take(0);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    bag_add(2, 8);
    pthread_create(&threads[0], 0, looker, 0);
    pthread_create(&threads[1], 0, mover, 0);
    for (int idx = 0; idx < 2; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
