// The queens of a board of 4x4 on futures, one for each place in the first row: the solutions are
// summed up by a load and a store.
// expect: violated assertion
// expect -DFIXED: holds
#include "future.h"

#ifndef ROUNDS
#define ROUNDS 5
#endif

enum { SIZE = 4, THREADS = 3 };

static atomic_int n_solutions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_futures;

static int solve(const int *queens, int row) {
    if (row == SIZE)
        return 1;
    int found = 0;
    for (int column = 0; column < SIZE; column++) {
        int fits = 1;
        int next[SIZE];
        for (int above = 0; above < row; above++) {
            int distance = queens[above] > column ? queens[above] - column : column - queens[above];
            fits = fits && distance != 0 && distance != row - above;
            next[above] = queens[above];
        }
        next[row] = column;
        found += fits ? solve(next, row + 1) : 0;
    }
    return found;
}

static int solve_from(int column) {
    int queens[SIZE] = {column};
    return solve(queens, 1);
}

static void *worker(void *argument) {
    future own = {.compute = solve_from, .argument = (int)(long)argument};
    future_run(&own);
#ifdef FIXED
    atomic_fetch_add(&n_solutions, atomic_load(&own.value));
#else
    int sum = atomic_load(&n_solutions);
    atomic_store(&n_solutions, sum + atomic_load(&own.value)); // Planted: not one step.
#endif
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        n_futures++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long idx = 0; idx < THREADS; idx++)
        pthread_create(&threads[idx], 0, worker, (void *)idx);
    for (int idx = 0; idx < THREADS; idx++)
        pthread_join(threads[idx], 0);
    assert(atomic_load(&n_solutions) == 2);
    return 0;
}
