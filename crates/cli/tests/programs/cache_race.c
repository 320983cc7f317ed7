// The lock protects the table of a cache, but not its statistics.
#include <pthread.h>

struct stats {
    long hits;
    long misses;
};

struct cache {
    pthread_mutex_t lock;
    struct stats stats;
    int table[4];
};

static struct cache cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int get(struct cache *c, int key) {
    pthread_mutex_lock(&c->lock);
    int value = c->table[key];
    pthread_mutex_unlock(&c->lock);
    if (value == 0)
        c->stats.misses++;
    return value;
}

static void *reader(void *arg) {
    get(&cache, 1);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
