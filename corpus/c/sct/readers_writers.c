// Readers count themselves in, but one forgets to keep writers out until it has.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static int readers;
static atomic_int reading, writing;

static void *read_it(void *unused) {
    pthread_mutex_lock(&counting);
    int is_first = ++readers == 1;
#ifdef FIXED
    if (is_first) sem_wait(&room);
    pthread_mutex_unlock(&counting);
#else
    pthread_mutex_unlock(&counting);
    if (is_first) sem_wait(&room);
#endif
    atomic_fetch_add(&reading, 1);
    assert(atomic_load(&writing) == 0);
    atomic_fetch_sub(&reading, 1);
    pthread_mutex_lock(&counting);
    if (--readers == 0) sem_post(&room);
    pthread_mutex_unlock(&counting);
    return unused;
}

static void *write_it(void *unused) {
    sem_wait(&room);
    atomic_store(&writing, 1);
    assert(atomic_load(&reading) == 0);
    atomic_store(&writing, 0);
    sem_post(&room);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&room, 0, 1);
    pthread_create(&threads[0], 0, read_it, 0);
    pthread_create(&threads[1], 0, read_it, 0);
    pthread_create(&threads[2], 0, write_it, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
