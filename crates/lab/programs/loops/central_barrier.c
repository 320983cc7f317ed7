/* A barrier of a counter and a sense, ROUNDS times: the last to come turns the sense. */
#include "threads.h"

#ifndef ROUNDS
#define ROUNDS 2
#endif

static atomic_int count, sense;

static void *work(void *arg) {
    int mine = 0;
    for (int round = 0; round < ROUNDS; round++) {
        mine = !mine;
        if (atomic_fetch_add(&count, 1) == N - 1) {
            atomic_store(&count, 0);
            atomic_store(&sense, mine);
        } else {
            while (atomic_load(&sense) != mine) {
            }
        }
    }
    return arg;
}

int main(void) { run(N, work); }
