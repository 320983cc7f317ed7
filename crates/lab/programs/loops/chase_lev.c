/* The deque of Chase and Lev: its owner pushes THREE and takes twice, N thieves steal once. */
#include "threads.h"

#define PUSHES 3

static atomic_int top, bottom, items[PUSHES], taken[PUSHES + 1];

static int take(void) {
    int b = atomic_load(&bottom) - 1;
    atomic_store(&bottom, b);
    int t = atomic_load(&top);
    if (t > b) {
        atomic_store(&bottom, b + 1);
        return 0;
    }
    int item = atomic_load(&items[b]);
    if (t == b) {
        if (!atomic_compare_exchange_strong(&top, &t, t + 1)) item = 0;
        atomic_store(&bottom, b + 1);
    }
    return item;
}

static int steal(void) {
    for (;;) {
        int t = atomic_load(&top);
        int b = atomic_load(&bottom);
        if (t >= b) return 0;
        int item = atomic_load(&items[t]);
        if (atomic_compare_exchange_strong(&top, &t, t + 1)) return item;
    }
}

static void *work(void *arg) {
    if ((long)arg < N) {
        int item = steal();
        if (item) assert(atomic_fetch_add(&taken[item], 1) == 0);
        return arg;
    }
    for (int i = 0; i < PUSHES; i++) {
        atomic_store(&items[i], i + 1);
        atomic_store(&bottom, i + 1);
    }
    for (int i = 0; i < 2; i++) {
        int item = take();
        if (item) assert(atomic_fetch_add(&taken[item], 1) == 0);
    }
    return arg;
}

int main(void) { run(N + 1, work); }
