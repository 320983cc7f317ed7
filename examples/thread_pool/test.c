#include "pool.h"

#include <assert.h>

static void square(void *argument) {
    int *number = argument;
    *number *= *number;
}

int main(void) {
    struct pool pool;
    pthread_t workers[2];
    int numbers[] = {3, 4};
    pool_open(&pool, workers, 2);
    for (int i = 0; i < 2; i++)
        pool_submit(&pool, square, &numbers[i]);
    pool_wait(&pool);
    assert(numbers[0] + numbers[1] == 25);
    pool_close(&pool);
    return 0;
}
