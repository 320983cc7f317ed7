// The queens of a board of 4x4 on futures: whoever asks for a value computes it unless somebody has
// started; two that have each started one of two futures and ask for the other's go round for ever.
// The loops only read, so that both are stuck: told as a deadlock.
// expect: violated deadlock
#include "future.h"
#include <sched.h>

static int double_of(int column) { return 2 * column; }

static future futures[2] = {
    {.compute = double_of, .argument = 1},
    {.compute = double_of, .argument = 2},
};

static int start(future *it) { return atomic_exchange(&it->is_started, 1) == 0; }

static int ask(future *it) {
    if (start(it))
        future_run(it);
    while (!atomic_load(&it->is_done))
        sched_yield(); // Planted: the one who started it may wait here, too.
    return atomic_load(&it->value);
}

static void *worker(void *argument) {
    int own = (int)(long)argument;
    int is_mine = start(&futures[own]);
    int other = ask(&futures[1 - own]); // Before its own: this is what closes the circle.
    if (is_mine)
        future_run(&futures[own]);
    return (void *)(long)other;
}

int main(void) {
    pthread_t threads[2];
    for (long idx = 0; idx < 2; idx++)
        pthread_create(&threads[idx], 0, worker, (void *)idx);
    for (int idx = 0; idx < 2; idx++)
        pthread_join(threads[idx], 0);
    return 0;
}
