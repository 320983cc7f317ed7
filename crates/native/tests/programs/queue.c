/* A bounded queue with two condition variables, as it should be. */
#include <assert.h>
#include <pthread.h>

enum { ROOM = 1, ITEMS = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int items[ROOM], first, n_items;

static void put(int item) {
    pthread_mutex_lock(&mutex);
    while (n_items == ROOM)
        pthread_cond_wait(&not_full, &mutex);
    items[(first + n_items++) % ROOM] = item;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&mutex);
}

static int take(void) {
    pthread_mutex_lock(&mutex);
    while (n_items == 0)
        pthread_cond_wait(&not_empty, &mutex);
    int item = items[first];
    first = (first + 1) % ROOM;
    n_items--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
    return item;
}

static void *producer(void *unused) {
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return unused;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, 0, producer, 0);
    for (int i = 0; i < ITEMS; i++)
        sum = sum * 10 + take();
    assert(sum == 123);
    pthread_join(thread, 0);
    return 0;
}
