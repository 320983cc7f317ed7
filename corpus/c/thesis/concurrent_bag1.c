// A concurrent bag: who steals looks at the length of a list before it locks it, and believes it.
// expect: violated assertion
// expect -DFIXED: holds
#include "bag.h"

#ifndef ROUNDS
#define ROUNDS 2
#endif

static int take_locked(list *from, int n_items) {
    int item = from->items[n_items - 1];
    from->items[n_items - 1] = 0;
    atomic_store(&from->n_items, n_items - 1);
    return item;
}

static int bag_steal(int victim) {
    list *from = &bag[victim];
    int n_items = atomic_load(&from->n_items);
    if (n_items == 0)
        return -1;
    pthread_mutex_lock(&from->lock);
#ifdef FIXED
    n_items = atomic_load(&from->n_items);
#endif
    // Planted: the list may be shorter by now.
    int item = n_items > 0 ? take_locked(from, n_items) : -1;
    pthread_mutex_unlock(&from->lock);
    return item;
}

static void bag_take(int owner) {
    list *own = &bag[owner];
    pthread_mutex_lock(&own->lock);
    int n_items = atomic_load(&own->n_items);
    if (n_items > 0)
        take_locked(own, n_items);
    pthread_mutex_unlock(&own->lock);
}

static void *user(void *unused) {
    int item = bag_steal(2);
    assert(item != 0);
    for (int round = 1; round <= ROUNDS; round++) {
        bag_add(0, round);
        bag_take(0);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    bag_add(2, 7);
    bag_add(2, 8);
    for (int idx = 0; idx < 2; idx++)
        pthread_create(&threads[idx], 0, user, 0);
    for (int idx = 0; idx < 2; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
