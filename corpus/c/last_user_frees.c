// The last user of a block frees it, with the lock in it: who was there before has let go of both.
// expect: holds
// expect -DLATE: violated race
#include "threads.h"
#include <stdlib.h>
struct Shared {
    pthread_mutex_t mutex;
    int users;
    int value;
};

static void *use(void *argument) {
    struct Shared *shared = argument;
    pthread_mutex_lock(&shared->mutex);
    shared->value++;
    int is_last = --shared->users == 0;
    pthread_mutex_unlock(&shared->mutex);
#ifdef LATE
    shared->value++;
#endif
    if (is_last) {
        pthread_mutex_destroy(&shared->mutex);
        free(shared);
    }
    return 0;
}
int main(void) {
    struct Shared *shared = malloc(sizeof *shared);
    pthread_mutex_init(&shared->mutex, 0);
    shared->users = 2;
    shared->value = 0;
    pthread_t one, two;
    pthread_create(&one, 0, use, shared);
    pthread_create(&two, 0, use, shared);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
