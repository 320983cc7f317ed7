// A concurrent bag: each thread has a list of its own and steals from the others when it is empty.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { LISTS = 3, CAPACITY = 8 };

typedef struct {
    pthread_mutex_t lock;
    atomic_int n_items;
    int items[CAPACITY];
} list;

static list bag[LISTS] = {
    {.lock = PTHREAD_MUTEX_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER},
    {.lock = PTHREAD_MUTEX_INITIALIZER},
};

static void bag_add(int owner, int item) {
    list *own = &bag[owner];
    pthread_mutex_lock(&own->lock);
    int n_items = atomic_load(&own->n_items);
    own->items[n_items] = item;
    atomic_store(&own->n_items, n_items + 1);
    pthread_mutex_unlock(&own->lock);
}
