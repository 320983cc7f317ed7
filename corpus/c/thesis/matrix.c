// The product of two matrices of 2x2 on futures, one for each row: a row is taken as done before its
// second element is there.
// expect: violated assertion
// expect -DFIXED: holds
#include "future.h"

#ifndef ROUNDS
#define ROUNDS 5
#endif

enum { SIZE = 2 };

static const int left[SIZE][SIZE] = {{1, 2}, {3, 4}};
static const int right[SIZE][SIZE] = {{5, 6}, {7, 8}};
static atomic_int product[SIZE][SIZE];
static atomic_int is_done[SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_rounds;

static void compute(int row, int column) {
    int sum = 0;
    for (int idx = 0; idx < SIZE; idx++)
        sum += left[row][idx] * right[idx][column];
    atomic_store(&product[row][column], sum);
}

static void count(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        n_rounds++;
        pthread_mutex_unlock(&lock);
    }
}

static void *worker(void *argument) {
    int row = (int)(long)argument;
    compute(row, 0);
#ifdef FIXED
    compute(row, 1);
    atomic_store(&is_done[row], 1);
#else
    atomic_store(&is_done[row], 1); // Planted: one element too early.
    compute(row, 1);
#endif
    count();
    return 0;
}

static void *reader(void *unused) {
    for (int row = 0; row < SIZE; row++)
        if (atomic_load(&is_done[row]))
            assert(atomic_load(&product[row][1]) != 0);
    count();
    return unused;
}

int main(void) {
    pthread_t threads[SIZE + 1];
    for (long row = 0; row < SIZE; row++)
        pthread_create(&threads[row], 0, worker, (void *)row);
    pthread_create(&threads[SIZE], 0, reader, 0);
    for (int idx = 0; idx <= SIZE; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
