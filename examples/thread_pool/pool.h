/* A pool of threads that run jobs from a queue. */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <pthread.h>

enum { POOL_CAPACITY = 4 };

typedef void job_function(void *argument);

struct job {
    job_function *run;
    void *argument;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job jobs[POOL_CAPACITY];
    unsigned first, length; /* of the queue */
    unsigned unfinished;    /* jobs that are queued or run */
    bool closing;
    unsigned n_workers;
    pthread_t *workers;
};

/* Starts the workers, whose handles go into `workers`. */
void pool_open(struct pool *pool, pthread_t *workers, unsigned n_workers);

/* Hands a job to a worker; false if the queue is full. */
bool pool_submit(struct pool *pool, job_function *run, void *argument);

/* Waits until all jobs are done. */
void pool_wait(struct pool *pool);

/* Ends the workers. */
void pool_close(struct pool *pool);

#endif
