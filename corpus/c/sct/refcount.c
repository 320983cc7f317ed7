// The last user frees the object; whoever reads the count after giving its share back frees what
// others still use.
// expect: violated race
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int users;
    int value;
};

static void *use(void *argument) {
    struct object *object = argument;
#ifdef FIXED
    (void)*(volatile int *)&object->value;
    if (atomic_fetch_sub(&object->users, 1) == 1) free(object);
#else
    if (atomic_load(&object->users) == 1) {
        free(object);
        return 0;
    }
    atomic_fetch_sub(&object->users, 1);
    object->value++;
#endif
    return 0;
}

int main(void) {
    pthread_t one, two;
    struct object *object = malloc(sizeof *object);
    atomic_init(&object->users, 2);
    object->value = 0;
    pthread_create(&one, 0, use, object);
    pthread_create(&two, 0, use, object);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
