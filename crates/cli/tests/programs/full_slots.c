// Whether there is room and which slot it is are asked at two times.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int count = 2;
static int *slots;

static void *add(void *arg) {
    if (atomic_load(&count) < 3)
        slots[atomic_fetch_add(&count, 1)] = 7;
    return arg;
}

int main(void) {
    pthread_t threads[2];
    slots = malloc(3 * sizeof *slots);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(slots);
    return 0;
}
