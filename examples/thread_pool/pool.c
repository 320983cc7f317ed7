#include "pool.h"

static void *work(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        while (pool->length == 0 && !pool->closing)
            pthread_cond_wait(&pool->changed, &pool->lock);
        if (pool->length == 0) {
            pthread_mutex_unlock(&pool->lock);
            return NULL;
        }
        struct job job = pool->jobs[pool->first];
        pool->first = (pool->first + 1) % POOL_CAPACITY;
        pool->length--;
        pthread_cond_broadcast(&pool->changed);
        pthread_mutex_unlock(&pool->lock);
        job.run(job.argument);
    }
}

void pool_open(struct pool *pool, pthread_t *workers, unsigned n_workers) {
    *pool = (struct pool){.workers = workers, .n_workers = n_workers};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (unsigned i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, work, pool);
}

bool pool_submit(struct pool *pool, job_function *run, void *argument) {
    pthread_mutex_lock(&pool->lock);
    bool has_room = pool->length < POOL_CAPACITY;
    if (has_room) {
        unsigned last = (pool->first + pool->length++) % POOL_CAPACITY;
        pool->jobs[last] = (struct job){run, argument};
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->lock);
    return has_room;
}

void pool_wait(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->length > 0)
        pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pool_close(struct pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
}
