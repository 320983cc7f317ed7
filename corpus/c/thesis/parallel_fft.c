// A fast Fourier transform of four integers modulo 17, by six threads and the main one. Every
// butterfly locks the two elements it works on; each stage waits for the one before.
// expect: holds
#include <pthread.h>

enum { SIZE = 4, WORKERS = 3, PRIME = 17, ROOT = 4 };

static int values[SIZE] = {1, 3, 2, 4}; // In the order of reversed bits.
static pthread_mutex_t locks[SIZE] = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_butterflies;

static void butterfly(int low, int high, int twiddle) {
    pthread_mutex_lock(&locks[low]);
    pthread_mutex_lock(&locks[high]);
    int product = values[high] * twiddle % PRIME;
    int sum = values[low];
    values[low] = (sum + product) % PRIME;
    values[high] = (sum - product + PRIME) % PRIME;
    pthread_mutex_unlock(&locks[high]);
    pthread_mutex_unlock(&locks[low]);
}

typedef struct {
    int low, high, twiddle;
} task;

static void *worker(void *argument) {
    task *own = argument;
    if (own->twiddle != 0)
        butterfly(own->low, own->high, own->twiddle);
    pthread_mutex_lock(&count_lock);
    n_butterflies++;
    pthread_mutex_unlock(&count_lock);
    return 0;
}

static void stage(task *tasks, int n_tasks) {
    pthread_t threads[WORKERS];
    for (int idx = 0; idx < n_tasks; idx++)
        pthread_create(&threads[idx], 0, worker, &tasks[idx]);
    for (int idx = 0; idx < n_tasks; idx++)
        pthread_join(threads[idx], 0);
}

int main(void) {
    // The third task of a stage has nothing to transform: it only counts.
    static task first[] = {{0, 1, 1}, {2, 3, 1}, {0, 0, 0}};
    static task second[] = {{0, 2, 1}, {1, 3, ROOT}, {0, 0, 0}};
    stage(first, 3);
    stage(second, 3);
    // 1+2+3+4 in the first place, whatever the order.
    return values[0] == 10 && n_butterflies == 6 ? 0 : 1;
}
