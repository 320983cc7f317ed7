#include "ring.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { N_ITEMS = 3 };

static struct ring ring;

static void *produce(void *unused) {
    for (int item = 1; item <= N_ITEMS; item++)
        while (!ring_put(&ring, item))
            sched_yield();
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    for (int expected = 1; expected <= N_ITEMS; expected++) {
        int item;
        while (!ring_get(&ring, &item))
            sched_yield();
        assert(item == expected);
    }
    pthread_join(producer, NULL);
    return 0;
}
