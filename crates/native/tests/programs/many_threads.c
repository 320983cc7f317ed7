/* More threads than there are numbers for. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count[1100];

static void *add(void *which) {
    atomic_fetch_add(&count[(long)which], 1);
    return 0;
}

int main(void) {
    for (long i = 0; i < 1100; i++) {
        pthread_t id;
        pthread_create(&id, 0, add, (void *)i);
    }
    return 0;
}
