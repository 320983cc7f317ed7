// A barrier for three, and two who come to it: the third one has nothing to do and leaves.
// expect: violated deadlock
// expect -DFIXED: holds
#include <pthread.h>
#include <stdatomic.h>

#define N 3

static pthread_barrier_t barrier;
static atomic_int work_left = 2;

static void *work(void *unused) {
#ifdef FIXED
    atomic_fetch_sub(&work_left, 1);
#else
    if (atomic_fetch_sub(&work_left, 1) <= 0) return unused;
#endif
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void) {
    pthread_t threads[N];
    pthread_barrier_init(&barrier, 0, N);
    for (int i = 0; i < N; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < N; i++) pthread_join(threads[i], 0);
    return 0;
}
