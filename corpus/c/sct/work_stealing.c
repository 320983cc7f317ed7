// The owner takes from one end of a queue, a thief from the other. For the last item both must
// agree, and the owner does not ask.
// expect: violated assertion
// expect -DFIXED: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 2

static atomic_int head, tail;
static atomic_int taken[N];

static void take(int item) { assert(atomic_fetch_add(&taken[item], 1) == 0); }

static void pop(void) {
    int t = atomic_load(&tail) - 1;
    atomic_store(&tail, t);
    int h = atomic_load(&head);
    if (h < t) {
        take(t);
        return;
    }
    if (h == t) {
#ifdef FIXED
        if (atomic_compare_exchange_strong(&head, &h, h + 1)) take(t);
#else
        atomic_store(&head, h + 1);
        take(t);
#endif
    }
    atomic_store(&tail, t + 1);
}

static void *steal(void *unused) {
    for (int i = 0; i < N; i++) {
        int h = atomic_load(&head);
        if (h < atomic_load(&tail) && atomic_compare_exchange_strong(&head, &h, h + 1)) take(h);
    }
    return unused;
}

int main(void) {
    pthread_t thief;
    atomic_store(&tail, N);
    pthread_create(&thief, 0, steal, 0);
    for (int i = 0; i < N; i++) pop();
    pthread_join(thief, 0);
    return 0;
}
