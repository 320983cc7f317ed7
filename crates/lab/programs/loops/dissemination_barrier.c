/* The dissemination barrier of Hensgen, Finkel and Manber: in round k, thread i tells i + 2^k. */
#include "threads.h"

#define ROUNDS 3

static atomic_int told[ROUNDS][N];
static int before[N];

static void *work(void *arg) {
    int me = (long)arg;
    before[me] = 1;
    for (int round = 0; 1 << round < N; round++) {
        atomic_store(&told[round][(me + (1 << round)) % N], 1);
        while (!atomic_load(&told[round][me])) {
        }
    }
    for (int i = 0; i < N; i++) assert(before[i]);
    return arg;
}

int main(void) { run(N, work); }
