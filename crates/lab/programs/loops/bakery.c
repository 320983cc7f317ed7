/* Lamport's bakery: each of N threads takes a number above all others; the lowest goes first. */
#include "threads.h"

static atomic_int chooses[N], number[N];
static int inside;

static void *work(void *arg) {
    int me = (long)arg, highest = 0;
    atomic_store(&chooses[me], 1);
    for (int i = 0; i < N; i++) {
        int other = atomic_load(&number[i]);
        if (other > highest) highest = other;
    }
    int mine = highest + 1;
    atomic_store(&number[me], mine);
    atomic_store(&chooses[me], 0);
    for (int i = 0; i < N; i++) {
        if (i == me) continue;
        while (atomic_load(&chooses[i])) {
        }
        for (;;) {
            int other = atomic_load(&number[i]);
            if (!other || other > mine || (other == mine && i > me)) break;
        }
    }
    inside++;
    atomic_store(&number[me], 0);
    return arg;
}

int main(void) {
    run(N, work);
    assert(inside == N);
}
